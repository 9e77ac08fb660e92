//! What a fact means for the person, as a colour; the words beside it say the same.

/// What a fact means for the person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    #[default]
    Plain,
    Good,
    Active,
    Bad,
    Waiting,
    Faint,
}

impl Tone {
    /// The class that sets the tone's colours.
    pub fn class(self) -> &'static str {
        match self {
            Tone::Plain => "tone-plain",
            Tone::Good => "tone-good",
            Tone::Active => "tone-active",
            Tone::Bad => "tone-bad",
            Tone::Waiting => "tone-waiting",
            Tone::Faint => "tone-faint",
        }
    }
}
