//! The number of a target, and a list in which each target is found only by its number.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::ops::{Index, IndexMut};

/// Identifies a target in a plan and in its record. Targets are numbered from 0, without gaps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TargetIndex(usize);

impl TargetIndex {
    pub const fn new(number: usize) -> TargetIndex {
        TargetIndex(number)
    }

    /// Iterates over this number and the later ones.
    pub fn and_later(self) -> impl Iterator<Item = TargetIndex> {
        (self.0..).map(TargetIndex)
    }

    /// The number of this target under the condition with this number, from 0. A run that compares
    /// conditions numbers its `targets` once for each condition.
    pub const fn under_condition(self, condition: usize, targets: usize) -> TargetIndex {
        TargetIndex(condition * targets + self.0)
    }

    /// The number of this target under the first condition.
    pub const fn under_first_condition(self, targets: usize) -> TargetIndex {
        TargetIndex(self.0 % targets)
    }

    /// The number of the first target under the same condition.
    pub const fn first_under_same_condition(self, targets: usize) -> TargetIndex {
        TargetIndex(self.0 - self.0 % targets)
    }
}

impl fmt::Display for TargetIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Schemas show a plain number; a derived schema would have a definition of its own.
impl JsonSchema for TargetIndex {
    fn inline_schema() -> bool {
        usize::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        usize::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        usize::json_schema(generator)
    }
}

/// One value for each target, in the order of their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Targets<T> {
    list: Vec<T>,
}

impl<T> Targets<T> {
    /// Adds the value of the next target.
    pub fn push(&mut self, value: T) {
        self.list.push(value);
    }

    pub fn get(&self, index: TargetIndex) -> Option<&T> {
        self.list.get(index.0)
    }

    pub fn first(&self) -> Option<&T> {
        self.list.first()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.list.iter()
    }

    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.list.iter_mut()
    }

    /// Iterates over the numbers of the targets and their values.
    pub fn numbered(&self) -> impl Iterator<Item = (TargetIndex, &T)> {
        self.indices().zip(&self.list)
    }

    /// Iterates over the numbers of the targets.
    pub fn indices(&self) -> impl Iterator<Item = TargetIndex> + use<T> {
        (0..self.list.len()).map(TargetIndex)
    }

    /// The number of the target that is added next.
    pub fn next_index(&self) -> TargetIndex {
        TargetIndex(self.list.len())
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }
}

/// Schemas show a plain array.
impl<T: JsonSchema> JsonSchema for Targets<T> {
    fn inline_schema() -> bool {
        Vec::<T>::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        Vec::<T>::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Vec::<T>::json_schema(generator)
    }
}

impl<T> Default for Targets<T> {
    fn default() -> Targets<T> {
        Targets { list: Vec::new() }
    }
}

impl<T> FromIterator<T> for Targets<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Targets<T> {
        Targets { list: values.into_iter().collect() }
    }
}

impl<T> Extend<T> for Targets<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        self.list.extend(values);
    }
}

impl<T> IntoIterator for Targets<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a Targets<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.iter()
    }
}

/// # Panics
/// If no target has this number.
impl<T> Index<TargetIndex> for Targets<T> {
    type Output = T;

    fn index(&self, index: TargetIndex) -> &T {
        &self.list[index.0]
    }
}

/// # Panics
/// If no target has this number.
impl<T> IndexMut<TargetIndex> for Targets<T> {
    fn index_mut(&mut self, index: TargetIndex) -> &mut T {
        &mut self.list[index.0]
    }
}
