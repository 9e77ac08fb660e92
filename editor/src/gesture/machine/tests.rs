//! Gestures as stories: what the hand does, and what came of it.

use super::*;
use crate::geometry::plane::{Size, Viewport};

const GROUND: Ground = Ground {
    viewport: Viewport { shift: Point::new(100.0, 0.0), zoom: 2.0 },
    surface: Size::new(1000.0, 800.0),
    panning_key: false,
};

/// A hand on the canvas: each verb is one input; everything that was done is kept.
struct Hand {
    gesture: Gesture,
    done: Vec<Effect>,
    press: Press,
    ground: Ground,
}

fn at(x: f64, y: f64) -> Point {
    Point::new(x, y)
}

fn card(id: &str) -> Target {
    Target::Item(Item::Node(id.to_owned()))
}

fn output(id: &str) -> Target {
    Target::Output(Source { node: id.to_owned(), port: None })
}

impl Hand {
    fn new(kind: PointerKind) -> Self {
        let press =
            Press { id: 1, kind, button: Button::Main, at: Point::default(), joining: Joining::Replace, boxing: false };
        Self { gesture: Gesture::Idle, done: Vec::new(), press, ground: GROUND }
    }

    fn feed(&mut self, input: Input) -> &mut Self {
        let (gesture, effects) = step(std::mem::take(&mut self.gesture), input, &self.ground);
        self.gesture = gesture;
        self.done.extend(effects.into_iter().filter(|effect| !matches!(effect, Effect::Capture { .. })));
        self
    }

    fn down(&mut self, id: i32, point: Point, over: Target) -> &mut Self {
        let press = Press { id, at: point, ..self.press };
        self.feed(Input::Down { press, over })
    }

    fn to(&mut self, id: i32, point: Point, over: Target) -> &mut Self {
        self.feed(Input::Move { id, at: point, over })
    }

    fn up(&mut self, id: i32, point: Point, over: Target) -> &mut Self {
        self.feed(Input::Up { id, at: point, over })
    }
}

#[test]
fn a_press_that_hardly_moves_is_a_click() {
    for (kind, slip) in [(PointerKind::Mouse, 2.0), (PointerKind::Touch, 7.0)] {
        let mut hand = Hand::new(kind);
        hand.down(1, at(50.0, 50.0), card("a")).to(1, at(50.0 + slip, 50.0), card("a")).up(
            1,
            at(50.0 + slip, 50.0),
            card("a"),
        );
        assert_eq!(hand.done, [Effect::Select { item: Item::Node("a".to_owned()), joining: Joining::Replace }]);
        assert_eq!(hand.gesture, Gesture::Idle);
    }
}

#[test]
fn a_click_on_nothing_clears_and_a_toggle_does_not() {
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.down(1, at(5.0, 5.0), Target::Canvas).up(1, at(5.0, 5.0), Target::Canvas);
    assert_eq!(hand.done, [Effect::ClearSelection]);
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.press.joining = Joining::Toggle;
    hand.down(1, at(5.0, 5.0), Target::Canvas).up(1, at(5.0, 5.0), Target::Canvas);
    assert_eq!(hand.done, []);
}

#[test]
fn a_drag_keeps_its_offset_at_any_zoom() {
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.down(1, at(300.0, 300.0), card("a"))
        .to(1, at(340.0, 320.0), card("a"))
        .to(1, at(360.0, 300.0), Target::Canvas)
        .up(1, at(360.0, 300.0), Target::Canvas);
    assert_eq!(
        hand.done,
        [
            Effect::BeginDrag { grabbed: Item::Node("a".to_owned()) },
            Effect::DragTo { way: at(20.0, 10.0) },
            Effect::DragTo { way: at(30.0, 0.0) },
            Effect::EndDrag,
        ]
    );
}

#[test]
fn escape_takes_a_drag_back() {
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.down(1, at(300.0, 300.0), card("a")).to(1, at(340.0, 320.0), card("a")).feed(Input::Escape);
    assert_eq!(hand.done.last(), Some(&Effect::CancelDrag));
    assert_eq!(hand.gesture, Gesture::Idle);
    // Letting the button go afterwards means nothing any more.
    let before = hand.done.len();
    hand.up(1, at(340.0, 320.0), card("a"));
    assert_eq!(hand.done.len(), before);
}

#[test]
fn an_empty_canvas_pans_and_with_shift_boxes() {
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.down(1, at(10.0, 10.0), Target::Canvas).to(1, at(30.0, 15.0), Target::Canvas).up(
        1,
        at(30.0, 15.0),
        Target::Canvas,
    );
    assert_eq!(hand.done, [Effect::PanBy(at(20.0, 5.0))]);

    let mut hand = Hand::new(PointerKind::Mouse);
    hand.press.boxing = true;
    hand.press.joining = Joining::Toggle;
    hand.down(1, at(300.0, 200.0), Target::Canvas).to(1, at(100.0, 100.0), Target::Canvas).up(
        1,
        at(100.0, 100.0),
        Target::Canvas,
    );
    let rect = Rect::new(at(0.0, 50.0), Size::new(100.0, 50.0));
    assert_eq!(hand.done, [Effect::SelectIn { rect, joining: Joining::Toggle }]);
}

#[test]
fn the_middle_button_and_space_pan_over_anything() {
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.press.button = Button::Middle;
    hand.down(1, at(10.0, 10.0), card("a")).to(1, at(20.0, 10.0), card("a"));
    assert_eq!(hand.done, [Effect::PanBy(at(10.0, 0.0))]);

    let mut hand = Hand::new(PointerKind::Mouse);
    hand.ground.panning_key = true;
    hand.down(1, at(10.0, 10.0), card("a")).to(1, at(20.0, 10.0), card("a"));
    assert_eq!(hand.done, [Effect::PanBy(at(10.0, 0.0))]);
}

#[test]
fn an_edge_is_drawn_by_dragging_or_by_two_clicks() {
    let connected = [Effect::Connect { from: Source { node: "a".to_owned(), port: None }, to: "b".to_owned() }];
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.down(1, at(10.0, 10.0), output("a")).to(1, at(90.0, 10.0), card("b"));
    assert!(matches!(&hand.gesture, Gesture::Connect { over, .. } if *over == card("b")));
    hand.up(1, at(90.0, 10.0), card("b"));
    assert_eq!(hand.done, connected);

    let mut hand = Hand::new(PointerKind::Touch);
    hand.down(1, at(10.0, 10.0), output("a")).up(1, at(10.0, 10.0), output("a"));
    hand.to(1, at(50.0, 50.0), Target::Canvas).down(2, at(90.0, 10.0), card("b"));
    assert_eq!(hand.done, connected);
    assert_eq!(hand.gesture, Gesture::Idle);
}

#[test]
fn an_edge_let_go_on_nothing_says_where() {
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.down(1, at(10.0, 10.0), output("a")).to(1, at(300.0, 80.0), Target::Canvas).up(
        1,
        at(300.0, 80.0),
        Target::Canvas,
    );
    let from = Source { node: "a".to_owned(), port: None };
    assert_eq!(hand.done, [Effect::ConnectToNothing { from, at: at(100.0, 40.0) }]);
}

#[test]
fn a_pinch_takes_a_node_drag_back_and_zooms_between_the_fingers() {
    let mut hand = Hand::new(PointerKind::Touch);
    hand.down(1, at(100.0, 100.0), card("a")).to(1, at(120.0, 100.0), card("a"));
    hand.down(2, at(220.0, 100.0), Target::Canvas);
    assert_eq!(hand.done.last(), Some(&Effect::CancelDrag));
    hand.done.clear();
    hand.to(2, at(320.0, 100.0), Target::Canvas);
    assert_eq!(hand.done, [Effect::PanBy(at(50.0, 0.0)), Effect::ZoomAbout { at: at(220.0, 100.0), factor: 2.0 }]);
    hand.up(1, at(120.0, 100.0), Target::Canvas);
    assert_eq!(hand.gesture, Gesture::Pan { id: 2, last: at(320.0, 100.0) });
}

#[test]
fn a_tool_is_added_by_a_click_and_placed_by_a_drag() {
    let mut hand = Hand::new(PointerKind::Mouse);
    let press = Press { at: at(-100.0, 50.0), ..hand.press };
    hand.feed(Input::Pick { press, tool: "delay".to_owned() }).up(1, at(-100.0, 50.0), Target::Canvas);
    assert_eq!(hand.done, [Effect::Add { tool: "delay".to_owned() }]);

    let mut hand = Hand::new(PointerKind::Mouse);
    hand.feed(Input::Pick { press, tool: "delay".to_owned() }).to(1, at(500.0, 300.0), Target::Canvas).up(
        1,
        at(500.0, 300.0),
        Target::Canvas,
    );
    assert_eq!(hand.done, [Effect::Place { tool: "delay".to_owned(), at: at(200.0, 150.0) }]);

    // Let go beside the canvas, nothing is placed.
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.feed(Input::Pick { press, tool: "delay".to_owned() }).to(1, at(-20.0, 300.0), Target::Canvas).up(
        1,
        at(-20.0, 300.0),
        Target::Canvas,
    );
    assert_eq!(hand.done, []);
}

#[test]
fn at_the_edge_the_canvas_moves_by_time_and_the_drag_follows() {
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.down(1, at(500.0, 300.0), card("a")).to(1, at(1000.0, 300.0), card("a"));
    hand.done.clear();
    hand.feed(Input::Frame { elapsed: 100.0 });
    assert_eq!(hand.done, [Effect::PanBy(at(-90.0, 0.0)), Effect::DragTo { way: at(295.0, 0.0) }]);
    // Twice the frames, the same way in the same time.
    let one = auto_pan(at(990.0, 10.0), GROUND.surface, 16.0);
    let half = auto_pan(at(990.0, 10.0), GROUND.surface, 8.0);
    assert!((one.x - 2.0 * half.x).abs() < 1e-9 && (one.y - 2.0 * half.y).abs() < 1e-9);
    assert_eq!(auto_pan(at(500.0, 400.0), GROUND.surface, 16.0), Point::default());
}

#[test]
fn a_lost_pointer_ends_what_it_held_and_nothing_else() {
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.down(1, at(300.0, 300.0), card("a")).to(1, at(340.0, 320.0), card("a"));
    hand.feed(Input::Lost { id: 9 });
    assert!(matches!(hand.gesture, Gesture::Drag { .. }));
    hand.feed(Input::Lost { id: 1 });
    assert_eq!((&hand.gesture, hand.done.last()), (&Gesture::Idle, Some(&Effect::CancelDrag)));
}

#[test]
fn an_end_of_an_edge_is_led_to_another_node_and_stays_when_let_go_on_nothing() {
    let edge = EdgeKey { source: "a".to_owned(), port: None, target: "b".to_owned() };
    let grip = Target::EdgeEnd { edge: edge.clone(), end: End::Target };
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.down(1, at(100.0, 100.0), grip.clone()).to(1, at(300.0, 200.0), card("c")).up(1, at(300.0, 200.0), card("c"));
    let led = Effect::Reconnect { edge, end: End::Target, to: "c".to_owned(), at: at(100.0, 100.0) };
    assert_eq!(hand.done, [led]);
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.down(1, at(100.0, 100.0), grip).to(1, at(300.0, 200.0), Target::Canvas).up(
        1,
        at(300.0, 200.0),
        Target::Canvas,
    );
    assert_eq!((hand.gesture, hand.done), (Gesture::Idle, Vec::new()));
}

#[test]
fn a_note_is_resized_in_canvas_units_and_escape_takes_it_back() {
    let corner = || Target::NoteCorner("note_1".to_owned());
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.down(1, at(100.0, 100.0), corner()).to(1, at(140.0, 120.0), Target::Canvas).up(
        1,
        at(140.0, 120.0),
        Target::Canvas,
    );
    let begin = Effect::BeginResize { note: "note_1".to_owned() };
    assert_eq!(hand.done, [begin.clone(), Effect::ResizeTo { way: at(20.0, 10.0) }, Effect::EndResize]);
    let mut hand = Hand::new(PointerKind::Mouse);
    hand.down(1, at(100.0, 100.0), corner()).to(1, at(140.0, 120.0), Target::Canvas).feed(Input::Escape);
    assert_eq!(hand.done, [begin, Effect::ResizeTo { way: at(20.0, 10.0) }, Effect::CancelResize]);
}
