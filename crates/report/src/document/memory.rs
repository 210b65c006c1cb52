//! The section about methods under bounds on memory: charts of the rate and of the 99th percentile by
//! memory, sentences, and tables.

use super::super::charts::{self, Chart};
use super::super::memory::MemoryView;
use super::super::page::Page;
use super::{Section, figures, item, list};

pub(super) fn section(page: &Page) -> Option<Section> {
    let sentences = page.memory.iter().flat_map(MemoryView::lines).map(item);
    let tables = page.memory.iter().flat_map(MemoryView::tables);
    let tables = tables.map(|(title, table)| table.element(&title));
    let lead = "Each method was read cold, with memory for a part of the working set, and warm. The page cache of a reading is in a control group with this bound, and untimed readings come first until the share of it that stays in memory is steady. Ratios between bounds are made within rounds; a ratio to the cold or the warm end is that of two medians. What a method falls by is the largest step between two neighbouring bounds.";
    let content = figures(charts(page)).into_iter().chain(list(sentences)).chain(tables);
    Section::with_content("memory", "Memory", lead, content)
}

pub(super) fn charts(page: &Page) -> Vec<Chart> {
    page.memory.iter().enumerate().flat_map(|(number, view)| charts::memory(view, number)).collect()
}
