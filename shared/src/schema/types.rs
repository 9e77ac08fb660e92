//! The seven types of JSON Schema, sets of them, and the data types by which ports are coloured.

use std::fmt;
use std::ops::{BitAnd, BitOr};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A set of JSON Schema types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Types(u8);

const NAMES: [(&str, Types); 7] = [
    ("null", Types::NULL),
    ("boolean", Types::BOOLEAN),
    ("integer", Types::INTEGER),
    ("number", Types::NUMBER),
    ("string", Types::STRING),
    ("array", Types::ARRAY),
    ("object", Types::OBJECT),
];

impl Types {
    pub const NONE: Self = Self(0);
    pub const NULL: Self = Self(1);
    pub const BOOLEAN: Self = Self(2);
    pub const INTEGER: Self = Self(4);
    /// Whole numbers are numbers too.
    pub const NUMBER: Self = Self(8 | 4);
    pub const STRING: Self = Self(16);
    pub const ARRAY: Self = Self(32);
    pub const OBJECT: Self = Self(64);
    pub const ANY: Self = Self(127);

    /// The type of this name.
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(known, _)| *known == name).map(|(_, types)| *types)
    }

    /// What the keyword `type` allows: a name or a list of names.
    pub fn of_keyword(keyword: &Value) -> Option<Self> {
        match keyword {
            Value::String(name) => Self::named(name),
            Value::Array(names) => names
                .iter()
                .map(|name| name.as_str().and_then(Self::named))
                .try_fold(Self::NONE, |all, one| one.map(|one| all | one)),
            _ => None,
        }
    }

    /// The type of a value; a number without a fraction is an integer.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) => match number.as_f64() {
                Some(value) if number.is_f64() && value.fract() != 0.0 => Self(8),
                _ => Self::INTEGER,
            },
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    /// Whether the two have a type in common. A number that is declared as such may turn out to be whole.
    pub fn meets(self, other: Self) -> bool {
        self & other != Self::NONE
    }

    /// Whether it has no type at all.
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }
}

impl BitOr for Types {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for Types {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl fmt::Display for Types {
    /// `string or number`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ANY {
            return f.write_str("anything");
        }
        let mut names: Vec<&str> =
            NAMES.iter().filter(|(_, types)| (*self & *types) == *types).map(|(name, _)| *name).collect();
        if names.contains(&"number") {
            names.retain(|name| *name != "integer");
        }
        match names.split_last() {
            None => f.write_str("nothing"),
            Some((last, [])) => f.write_str(last),
            Some((last, rest)) => write!(f, "{} or {last}", rest.join(", ")),
        }
    }
}

/// The type of a port: what colours it, and decides what fits where.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataType {
    String,
    Number,
    Boolean,
    Object,
    Array,
    /// A path to a file, as text.
    File,
    #[default]
    Any,
}

impl DataType {
    /// The data type of this name; anything unknown is `any`.
    pub fn named(name: &str) -> Self {
        match name {
            "string" => Self::String,
            "number" | "integer" => Self::Number,
            "boolean" => Self::Boolean,
            "object" => Self::Object,
            "array" => Self::Array,
            "file" => Self::File,
            _ => Self::Any,
        }
    }

    /// The data type of values of this schema.
    pub fn of_schema(schema: &Value) -> Self {
        if schema.get("format").and_then(Value::as_str).is_some_and(|it| matches!(it, "weir-file" | "weir-directory")) {
            return Self::File;
        }
        match schema.get("type").and_then(Types::of_keyword) {
            Some(types) => Self::of_types(types),
            None => schema.get("const").map_or(Self::Any, |value| Self::of_types(Types::of(value))),
        }
    }

    /// The one data type of these types, null left aside.
    pub fn of_types(types: Types) -> Self {
        let without_null = Types(types.0 & !Types::NULL.0);
        [
            (Types::STRING, Self::String),
            (Types::BOOLEAN, Self::Boolean),
            (Types::ARRAY, Self::Array),
            (Types::OBJECT, Self::Object),
            (Types::NUMBER, Self::Number),
            (Types::INTEGER, Self::Number),
        ]
        .into_iter()
        .find(|(single, _)| *single == without_null)
        .map_or(Self::Any, |(_, data_type)| data_type)
    }

    /// The JSON types of its values.
    pub fn types(self) -> Types {
        match self {
            Self::String | Self::File => Types::STRING,
            Self::Number => Types::NUMBER,
            Self::Boolean => Types::BOOLEAN,
            Self::Object => Types::OBJECT,
            Self::Array => Types::ARRAY,
            Self::Any => Types::ANY,
        }
    }

    /// Whether a value of this type can stand where `wanted` is asked for.
    pub fn fits(self, wanted: Self) -> bool {
        self.types().meets(wanted.types())
    }
}
