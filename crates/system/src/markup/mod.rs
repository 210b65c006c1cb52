//! Elements of HTML and SVG. Escaping happens only here.
//!
//! An [`Element`] takes text and attributes unescaped and escapes them when it is written, so that
//! no file name can become markup. The result is also well-formed XML: elements are closed,
//! attributes have values. Only text compiled into the program (a style, a script) may be written
//! without escaping.

use crate::terminal::printable::printable;
use std::fmt::{Display, Write};

/// Elements that never have content.
const EMPTY_ELEMENTS: [&str; 7] = ["meta", "link", "br", "path", "line", "rect", "circle"];

/// The comment that marks an HTML, SVG or Markdown file as an output of readlab. A file without
/// this mark belongs to the user and is never replaced.
pub const MARK: &str = "<!-- made by readlab -->\n";

const PAGE_HEAD: &str = "<!DOCTYPE html>\n";
const PICTURE_HEAD: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Element {
    name: &'static str,
    attributes: String,
    content: String,
}

pub fn page(html: Element) -> String {
    format!("{PAGE_HEAD}{MARK}{}\n", html.render())
}

/// True if a file with this beginning is a page that readlab made.
pub fn is_own_page(head: &str) -> bool {
    is_marked(head, PAGE_HEAD)
}

pub fn picture(svg: Element) -> String {
    format!("{PICTURE_HEAD}{MARK}{}\n", svg.render())
}

/// True if a file with this beginning is a picture that readlab made.
pub fn is_own_picture(head: &str) -> bool {
    is_marked(head, PICTURE_HEAD)
}

fn is_marked(head: &str, format: &str) -> bool {
    head.strip_prefix(format).is_some_and(|rest| rest.starts_with(MARK))
}

pub fn element(name: &'static str) -> Element {
    Element { name, attributes: String::new(), content: String::new() }
}

/// An element that contains one text.
pub fn text_element(name: &'static str, raw: &str) -> Element {
    element(name).text(raw)
}

impl Element {
    pub fn set(mut self, name: &'static str, value: impl Display) -> Element {
        // Writing into a String cannot fail.
        let _ = write!(self.attributes, " {name}=\"{}\"", escape(&value.to_string()));
        self
    }

    /// Adds an attribute if there is a value for it.
    pub fn set_if_some(self, name: &'static str, value: Option<impl Display>) -> Element {
        match value {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    pub fn class(self, classes: &str) -> Element {
        self.set("class", classes)
    }

    /// Appends text to the content.
    pub fn text(mut self, raw: &str) -> Element {
        self.content.push_str(&escape(raw));
        self
    }

    /// Appends text of several lines, which stay separate lines.
    pub fn lines(mut self, raw: &str) -> Element {
        for line in raw.lines() {
            self.content.push_str(&escape(line));
            self.content.push('\n');
        }
        self
    }

    /// Appends an element to the content.
    pub fn with(mut self, child: Element) -> Element {
        child.write(&mut self.content);
        self
    }

    /// Appends several elements to the content.
    pub fn with_all(mut self, children: impl IntoIterator<Item = Element>) -> Element {
        for child in children {
            child.write(&mut self.content);
        }
        self
    }

    /// Appends a style or script that was compiled in. Text from the user cannot be `'static`.
    pub fn verbatim(mut self, text: &'static str) -> Element {
        self.content.push_str(text);
        self
    }

    pub fn render(self) -> String {
        let mut text = String::with_capacity(self.content.len() + self.attributes.len() + 16);
        self.write(&mut text);
        text
    }

    fn write(self, out: &mut String) {
        let Element { name, attributes, content } = self;
        // Writing into a String cannot fail.
        let _ = if EMPTY_ELEMENTS.contains(&name) && content.is_empty() {
            write!(out, "<{name}{attributes}/>")
        } else {
            write!(out, "<{name}{attributes}>{content}</{name}>")
        };
    }
}

/// Escapes text for content and attributes; control characters are shown as their codes.
fn escape(raw: &str) -> String {
    let mut escaped = String::with_capacity(raw.len());
    for c in printable(raw).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            // XML does not allow these characters.
            '\u{fffe}' | '\u{ffff}' => escaped.push('\u{fffd}'),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_and_attributes_cannot_become_markup() {
        let hostile = "</p><script>alert(\"1\")</script>' onload='x\u{1b}";
        let text = text_element("p", hostile).set("title", hostile).render();
        assert_eq!(text.matches('<').count(), 2, "{text}");
        assert!(!text.contains("onload='") && text.contains("\\u{1b}"), "{text}");
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_back_as_its_printable_form(raw in any::<String>()) {
            let text = text_element("p", &raw).set("title", &raw).render();
            let document = roxmltree::Document::parse(&text).unwrap();
            let shown = printable(&raw).replace(['\u{fffe}', '\u{ffff}'], "\u{fffd}");
            prop_assert_eq!(document.root_element().text().unwrap_or(""), &shown);
            prop_assert_eq!(document.root_element().attribute("title"), Some(shown.as_str()));
        }
    }
}
