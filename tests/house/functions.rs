//! A scanner for the functions of a Rust source: their names, parameters and body lines. It knows
//! comments, strings and brackets and no more of the language.

/// A function with a body.
pub(crate) struct Function {
    /// Its name.
    pub(crate) name: String,
    /// Its parameters as they are written, `self` among them.
    pub(crate) params: Vec<String>,
    /// The lines of its body that hold code; the lines of its own braces do not count.
    pub(crate) body_lines: usize,
}

/// The functions of a source, those within functions and tests included.
pub(crate) fn functions(source: &str) -> Vec<Function> {
    let code = code_only(source);
    code.match_indices("fn ").filter_map(|(at, _)| function(&code, at)).collect()
}

/// The function whose `fn` begins here; `None` for a type, a declaration or the end of another
/// word.
fn function(code: &str, at: usize) -> Option<Function> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    if code[..at].chars().next_back().is_some_and(is_word) {
        return None;
    }
    let rest = &code[at + 3..];
    let name: String = rest.chars().take_while(|c| is_word(*c)).collect();
    let open = name.len() + after_generics(&rest[name.len()..])?;
    if name.is_empty() || !rest[open..].starts_with('(') {
        return None;
    }
    let close = open + closing(&rest[open..])?;
    let body = close + 1 + body(&rest[close + 1..])?;
    let text = &rest[body + 1..body + closing(&rest[body..])?];
    let body_lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    Some(Function { name, params: split(&rest[open + 1..close]), body_lines })
}

/// Where the body begins behind the parameters; `None` for a declaration.
fn body(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.checked_sub(1)?,
            '{' if depth == 0 => return Some(at),
            ';' if depth == 0 => return None,
            _ => {}
        }
    }
    None
}

/// Where a list of generic parameters ends; 0 where there is none.
fn after_generics(text: &str) -> Option<usize> {
    if text.starts_with('<') { closing(text).map(|at| at + 1) } else { Some(0) }
}

/// Where the bracket that a text begins with is closed.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let angles = text.starts_with('<');
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            '<' if angles => depth += 1,
            '>' if !angles || before == '-' || before == '=' => {}
            ')' | ']' | '}' | '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        before = c;
    }
    None
}

/// The parts between commas that are within no bracket.
pub(crate) fn split(text: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let (mut depth, mut before) = (0_usize, ' ');
    for c in text.chars() {
        match c {
            '(' | '[' | '{' | '<' => depth += 1,
            '>' if before == '-' || before == '=' => {}
            ')' | ']' | '}' | '>' => depth -= 1,
            _ => {}
        }
        match parts.last_mut() {
            Some(part) if c != ',' || depth > 0 => part.push(c),
            _ => parts.push(String::new()),
        }
        before = c;
    }
    let parts = parts.iter().map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "));
    parts.filter(|part| !part.is_empty()).collect()
}

/// The element types of a parameter that is a tuple, also behind a reference or within an `Option`;
/// empty for any other.
pub(crate) fn tuple_elements(param: &str) -> Vec<String> {
    let pattern = if param.starts_with('(') { closing(param).unwrap_or(0) } else { 0 };
    let Some((_, kind)) = param[pattern..].split_once(':') else { return Vec::new() };
    let kind = kind.trim().trim_start_matches('&').trim_start_matches("mut ").trim_start_matches("Option<");
    if !kind.starts_with('(') {
        return Vec::new();
    }
    closing(kind).map(|end| split(&kind[1..end])).unwrap_or_default()
}

/// The source with blanks for comments and for what strings hold; its lines stay.
fn code_only(source: &str) -> String {
    let mut code = String::new();
    let mut rest = source;
    while let Some(c) = rest.chars().next() {
        let skipped = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(raw) = rest.strip_prefix("r#\"") {
            raw.find("\"#").map_or(rest.len(), |at| at + 5)
        } else if c == '"' {
            end_of_string(rest)
        } else if c == '\'' {
            end_of_character(rest)
        } else {
            0
        };
        if skipped == 0 {
            code.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        }
        // A string is code: its lines count as such.
        let filler = if c == '/' { ' ' } else { '_' };
        code.extend(rest[..skipped].chars().map(|c| if c == '\n' { c } else { filler }));
        rest = &rest[skipped..];
    }
    code
}

/// The bytes of the string that a text begins with.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            _ => escaped = c == '\\' && !escaped,
        }
    }
    text.len()
}

/// The bytes of the character literal that a text begins with; 0 for a lifetime.
fn end_of_character(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((at, _))) => text[at + 1..].find('\'').map_or(0, |end| at + end + 2),
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 0,
    }
}
