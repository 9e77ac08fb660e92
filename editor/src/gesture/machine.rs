//! The one gesture machine: what a hand does from the first touch to the last.
//!
//! `step` is the only way from one state to the next, and pure: the caller feeds it pointers, keys and frames and
//! does what it says. Points of a drag are kept on the canvas, so that the canvas may move under the pointer (auto-pan,
//! wheel) and what is dragged stays under it. Escape and a second finger take everything back.

use super::auto_pan::auto_pan;
use super::input::{Button, End, Ground, Input, Joining, PointerKind, Press, Source, Target};
use crate::geometry::plane::{Point, Rect};
use crate::model::item::{EdgeKey, Item};

/// What is going on.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Gesture {
    #[default]
    Idle,
    /// A pointer is down and has not moved enough to be anything yet.
    Pressed {
        press: Press,
        over: Target,
    },
    Pan {
        id: i32,
        last: Point,
    },
    /// A selection box, from a point of the canvas.
    Box {
        id: i32,
        from: Point,
        at: Point,
        joining: Joining,
    },
    /// Moving what is selected; `from` on the canvas.
    Drag {
        id: i32,
        grabbed: Item,
        from: Point,
        at: Point,
    },
    /// Drawing an edge.
    Connect {
        hold: Hold,
        from: Source,
        at: Point,
        over: Target,
    },
    /// Leading an end of an edge elsewhere.
    Reconnect {
        id: i32,
        edge: EdgeKey,
        end: End,
        at: Point,
        over: Target,
    },
    /// Pulling a note's corner; `from` on the canvas.
    Resize {
        id: i32,
        from: Point,
        at: Point,
    },
    /// Two fingers.
    Pinch {
        first: (i32, Point),
        second: (i32, Point),
    },
    /// A tool of the palette, not yet dragged.
    Picked {
        press: Press,
        tool: String,
    },
    /// A tool on its way to the canvas.
    Placing {
        id: i32,
        tool: String,
        at: Point,
    },
}

/// What keeps a new edge in the hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hold {
    /// A pointer held down.
    Pointer(i32),
    /// A click on the output: the next click sets the end.
    Clicked,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    PanBy(Point),
    ZoomAbout {
        at: Point,
        factor: f64,
    },
    Select {
        item: Item,
        joining: Joining,
    },
    ClearSelection,
    /// Selects what lies wholly in this part of the canvas.
    SelectIn {
        rect: Rect,
        joining: Joining,
    },
    /// A drag begins with this item under the pointer: it is to be selected if it is not.
    BeginDrag {
        grabbed: Item,
    },
    /// What is dragged stands this far from where it was. Canvas units.
    DragTo {
        way: Point,
    },
    /// The drag is over: what moved is one step of undo.
    EndDrag,
    /// What moved goes back.
    CancelDrag,
    Connect {
        from: Source,
        to: String,
    },
    /// A new edge was let go where no node is. A point of the canvas.
    ConnectToNothing {
        from: Source,
        at: Point,
    },
    /// Leads an end of an edge to a node. `at` is a point of the canvas.
    Reconnect {
        edge: EdgeKey,
        end: End,
        to: String,
        at: Point,
    },
    /// A note's corner is pulled from here on.
    BeginResize {
        note: String,
    },
    /// It was pulled this far. Canvas units.
    ResizeTo {
        way: Point,
    },
    EndResize,
    CancelResize,
    /// Puts a tool at a point of the canvas.
    Place {
        tool: String,
        at: Point,
    },
    /// Puts a tool where there is room.
    Add {
        tool: String,
    },
    /// All further events of this pointer are to come here.
    Capture {
        id: i32,
    },
}

/// The next state, and what to do.
pub fn step(gesture: Gesture, input: Input, ground: &Ground) -> (Gesture, Vec<Effect>) {
    match input {
        Input::Down { press, over } => down(gesture, press, over, ground),
        Input::Move { id, at, over } => moved(gesture, id, at, over, ground),
        Input::Up { id, at, over } => up(gesture, id, at, &over, ground),
        Input::Lost { id } if holds(&gesture, id) => (Gesture::Idle, taken_back(&gesture)),
        Input::Lost { .. } => (gesture, Vec::new()),
        Input::Escape => (Gesture::Idle, taken_back(&gesture)),
        Input::Frame { elapsed } => frame(gesture, elapsed, ground),
        Input::Pick { press, tool } => (Gesture::Picked { press, tool }, vec![Effect::Capture { id: press.id }]),
    }
}

/// The pointer that holds a gesture, if one does.
fn holder(gesture: &Gesture) -> Option<i32> {
    match gesture {
        Gesture::Idle | Gesture::Connect { hold: Hold::Clicked, .. } => None,
        Gesture::Pressed { press, .. } | Gesture::Picked { press, .. } => Some(press.id),
        Gesture::Pan { id, .. }
        | Gesture::Box { id, .. }
        | Gesture::Drag { id, .. }
        | Gesture::Placing { id, .. }
        | Gesture::Reconnect { id, .. }
        | Gesture::Resize { id, .. }
        | Gesture::Connect { hold: Hold::Pointer(id), .. }
        | Gesture::Pinch { first: (id, _), .. } => Some(*id),
    }
}

fn holds(gesture: &Gesture, id: i32) -> bool {
    match gesture {
        Gesture::Pinch { first, second } => first.0 == id || second.0 == id,
        _ => holder(gesture) == Some(id),
    }
}

/// What undoes an unfinished gesture.
fn taken_back(gesture: &Gesture) -> Vec<Effect> {
    match gesture {
        Gesture::Drag { .. } => vec![Effect::CancelDrag],
        Gesture::Resize { .. } => vec![Effect::CancelResize],
        Gesture::Idle
        | Gesture::Pressed { .. }
        | Gesture::Pan { .. }
        | Gesture::Box { .. }
        | Gesture::Connect { .. }
        | Gesture::Reconnect { .. }
        | Gesture::Pinch { .. }
        | Gesture::Picked { .. }
        | Gesture::Placing { .. } => Vec::new(),
    }
}

fn down(gesture: Gesture, press: Press, over: Target, ground: &Ground) -> (Gesture, Vec<Effect>) {
    let capture = vec![Effect::Capture { id: press.id }];
    match gesture {
        Gesture::Connect { hold: Hold::Clicked, from, .. } => match over.node() {
            Some(to) => (Gesture::Idle, vec![Effect::Connect { from, to: to.to_owned() }]),
            None => (Gesture::Idle, vec![Effect::ConnectToNothing { from, at: ground.viewport.to_canvas(press.at) }]),
        },
        Gesture::Idle => {
            if press.button == Button::Middle || ground.panning_key {
                return (Gesture::Pan { id: press.id, last: press.at }, capture);
            }
            (Gesture::Pressed { press, over }, capture)
        }
        // A second finger makes two: whatever the first was doing is taken back, so a pinch never moves a node.
        Gesture::Pressed { .. }
        | Gesture::Pan { .. }
        | Gesture::Drag { .. }
        | Gesture::Box { .. }
        | Gesture::Connect { .. }
        | Gesture::Reconnect { .. }
        | Gesture::Resize { .. }
            if press.kind == PointerKind::Touch =>
        {
            let Some(first) = holder(&gesture) else { return (gesture, Vec::new()) };
            let at = last_seen(&gesture, ground);
            let mut effects = taken_back(&gesture);
            effects.push(Effect::Capture { id: press.id });
            (Gesture::Pinch { first: (first, at), second: (press.id, press.at) }, effects)
        }
        other => (other, Vec::new()),
    }
}

/// Where the pointer of a gesture was last, on the surface.
fn last_seen(gesture: &Gesture, ground: &Ground) -> Point {
    match gesture {
        Gesture::Pressed { press, .. } | Gesture::Picked { press, .. } => press.at,
        Gesture::Pan { last, .. } => *last,
        Gesture::Box { at, .. }
        | Gesture::Drag { at, .. }
        | Gesture::Connect { at, .. }
        | Gesture::Placing { at, .. }
        | Gesture::Reconnect { at, .. }
        | Gesture::Resize { at, .. }
        | Gesture::Pinch { first: (_, at), .. } => *at,
        Gesture::Idle => Point::new(ground.surface.width / 2.0, ground.surface.height / 2.0),
    }
}

fn moved(gesture: Gesture, id: i32, at: Point, over: Target, ground: &Ground) -> (Gesture, Vec<Effect>) {
    if let Gesture::Connect { hold: Hold::Clicked, from, .. } = gesture {
        return (Gesture::Connect { hold: Hold::Clicked, from, at, over }, Vec::new());
    }
    if !holds(&gesture, id) {
        return (gesture, Vec::new());
    }
    match gesture {
        Gesture::Pressed { press, over: pressed } => {
            if at.distance(press.at) < press.kind.threshold() {
                return (Gesture::Pressed { press, over: pressed }, Vec::new());
            }
            let (begun, mut effects) = begin(press, pressed, ground);
            let (next, more) = moved(begun, id, at, over, ground);
            effects.extend(more);
            (next, effects)
        }
        Gesture::Picked { press, tool } => {
            if at.distance(press.at) < press.kind.threshold() {
                return (Gesture::Picked { press, tool }, Vec::new());
            }
            (Gesture::Placing { id, tool, at }, Vec::new())
        }
        Gesture::Pan { id, last } => (Gesture::Pan { id, last: at }, vec![Effect::PanBy(at - last)]),
        Gesture::Box { id, from, joining, .. } => (Gesture::Box { id, from, at, joining }, Vec::new()),
        Gesture::Drag { id, grabbed, from, .. } => {
            let way = ground.viewport.to_canvas(at) - from;
            (Gesture::Drag { id, grabbed, from, at }, vec![Effect::DragTo { way }])
        }
        Gesture::Connect { hold, from, .. } => (Gesture::Connect { hold, from, at, over }, Vec::new()),
        Gesture::Reconnect { id, edge, end, .. } => (Gesture::Reconnect { id, edge, end, at, over }, Vec::new()),
        Gesture::Resize { id, from, .. } => {
            let way = ground.viewport.to_canvas(at) - from;
            (Gesture::Resize { id, from, at }, vec![Effect::ResizeTo { way }])
        }
        Gesture::Placing { id, tool, .. } => (Gesture::Placing { id, tool, at }, Vec::new()),
        Gesture::Pinch { first, second } => {
            let (moved_first, moved_second) = if first.0 == id { ((id, at), second) } else { (first, (id, at)) };
            let before = first.1.middle(second.1);
            let after = moved_first.1.middle(moved_second.1);
            let factor = moved_first.1.distance(moved_second.1) / first.1.distance(second.1).max(1.0);
            let effects = vec![Effect::PanBy(after - before), Effect::ZoomAbout { at: after, factor }];
            (Gesture::Pinch { first: moved_first, second: moved_second }, effects)
        }
        Gesture::Idle => (Gesture::Idle, Vec::new()),
    }
}

/// What a press becomes once it moves.
fn begin(press: Press, over: Target, ground: &Ground) -> (Gesture, Vec<Effect>) {
    let Press { id, at, joining, .. } = press;
    let from = ground.viewport.to_canvas(at);
    match over {
        Target::Canvas if press.boxing => (Gesture::Box { id, from, at, joining }, Vec::new()),
        Target::Canvas | Target::Item(Item::Edge(_)) => (Gesture::Pan { id, last: at }, Vec::new()),
        Target::Item(grabbed) => {
            let effects = vec![Effect::BeginDrag { grabbed: grabbed.clone() }];
            (Gesture::Drag { id, grabbed, from, at }, effects)
        }
        Target::StartOutput => {
            let effects = vec![Effect::BeginDrag { grabbed: Item::Start }];
            (Gesture::Drag { id, grabbed: Item::Start, from, at }, effects)
        }
        Target::Output(source) => (
            Gesture::Connect { hold: Hold::Pointer(id), from: source.clone(), at, over: Target::Output(source) },
            Vec::new(),
        ),
        Target::EdgeEnd { edge, end } => (Gesture::Reconnect { id, edge, end, at, over: Target::Canvas }, Vec::new()),
        Target::NoteCorner(note) => (Gesture::Resize { id, from, at }, vec![Effect::BeginResize { note }]),
    }
}

fn up(gesture: Gesture, id: i32, at: Point, over: &Target, ground: &Ground) -> (Gesture, Vec<Effect>) {
    if !holds(&gesture, id) {
        return (gesture, Vec::new());
    }
    match gesture {
        Gesture::Pressed { press, over } => match over {
            Target::Canvas if press.joining == Joining::Replace => (Gesture::Idle, vec![Effect::ClearSelection]),
            Target::Canvas => (Gesture::Idle, Vec::new()),
            Target::Item(item) => (Gesture::Idle, vec![Effect::Select { item, joining: press.joining }]),
            Target::StartOutput => (Gesture::Idle, vec![Effect::Select { item: Item::Start, joining: press.joining }]),
            Target::EdgeEnd { edge, .. } => {
                (Gesture::Idle, vec![Effect::Select { item: Item::Edge(edge), joining: press.joining }])
            }
            Target::NoteCorner(note) => {
                (Gesture::Idle, vec![Effect::Select { item: Item::Note(note), joining: press.joining }])
            }
            Target::Output(source) => {
                let over = Target::Output(source.clone());
                (Gesture::Connect { hold: Hold::Clicked, from: source, at, over }, Vec::new())
            }
        },
        Gesture::Picked { tool, .. } => (Gesture::Idle, vec![Effect::Add { tool }]),
        Gesture::Box { from, joining, .. } => {
            let rect = Rect::between(from, ground.viewport.to_canvas(at));
            (Gesture::Idle, vec![Effect::SelectIn { rect, joining }])
        }
        Gesture::Drag { .. } => (Gesture::Idle, vec![Effect::EndDrag]),
        Gesture::Connect { from, .. } => match over.node() {
            Some(to) => (Gesture::Idle, vec![Effect::Connect { from, to: to.to_owned() }]),
            None => (Gesture::Idle, vec![Effect::ConnectToNothing { from, at: ground.viewport.to_canvas(at) }]),
        },
        // Let go where no node is, the edge stays what it was.
        Gesture::Reconnect { edge, end, .. } => match over.node() {
            Some(to) => {
                let at = ground.viewport.to_canvas(at);
                (Gesture::Idle, vec![Effect::Reconnect { edge, end, to: to.to_owned(), at }])
            }
            None => (Gesture::Idle, Vec::new()),
        },
        Gesture::Resize { .. } => (Gesture::Idle, vec![Effect::EndResize]),
        Gesture::Placing { tool, .. } => {
            let surface = Rect::new(Point::default(), ground.surface);
            if surface.contains(at) {
                (Gesture::Idle, vec![Effect::Place { tool, at: ground.viewport.to_canvas(at) }])
            } else {
                (Gesture::Idle, Vec::new())
            }
        }
        // The finger that stays goes on as a pan.
        Gesture::Pinch { first, second } => {
            let (id, last) = if first.0 == id { second } else { first };
            (Gesture::Pan { id, last }, Vec::new())
        }
        Gesture::Pan { .. } | Gesture::Idle => (Gesture::Idle, Vec::new()),
    }
}

fn frame(gesture: Gesture, elapsed: f64, ground: &Ground) -> (Gesture, Vec<Effect>) {
    let at = match &gesture {
        Gesture::Drag { at, .. }
        | Gesture::Box { at, .. }
        | Gesture::Reconnect { at, .. }
        | Gesture::Connect { hold: Hold::Pointer(_), at, .. } => *at,
        Gesture::Resize { .. }
        | Gesture::Idle
        | Gesture::Pressed { .. }
        | Gesture::Pan { .. }
        | Gesture::Connect { hold: Hold::Clicked, .. }
        | Gesture::Pinch { .. }
        | Gesture::Picked { .. }
        | Gesture::Placing { .. } => return (gesture, Vec::new()),
    };
    let pan = auto_pan(at, ground.surface, elapsed);
    if pan == Point::default() {
        return (gesture, Vec::new());
    }
    let mut effects = vec![Effect::PanBy(pan)];
    if let Gesture::Drag { from, .. } = &gesture {
        effects.push(Effect::DragTo { way: ground.viewport.panned(pan).to_canvas(at) - *from });
    }
    (gesture, effects)
}

#[cfg(test)]
mod tests;
