//! Tells the program which commit it was built from, so that a record can say so, and compiles the library that counts
//! allocations inside contenders, which the program carries in itself.
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let revision = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output();
    let revision = match revision {
        Ok(out) if out.status.success() => String::from_utf8_lossy(&out.stdout).trim().to_owned(),
        _ => "unknown".to_owned(),
    };
    println!("cargo::rustc-env=READLAB_REVISION={revision}");
    println!("cargo::rustc-env=READLAB_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    println!("cargo::rerun-if-changed=../.git/HEAD");
    println!("cargo::rerun-if-changed=build.rs");
    counting_library();
}

/// Compiles `src/measure/interpose` by itself, with no crate but `core`. Where no shared library can be made, an empty
/// file takes its place: the program then says that it cannot count.
fn counting_library() {
    let variable = |name| std::env::var_os(name);
    let (Some(rustc), Some(out), Some(target)) = (variable("RUSTC"), variable("OUT_DIR"), variable("TARGET"))
    else {
        panic!("RUSTC, OUT_DIR and TARGET are set by cargo");
    };
    let source = Path::new("src/measure/interpose");
    let library = PathBuf::from(out).join("counting.so");
    let mut command = Command::new(rustc);
    command.args(["--edition", "2024", "--crate-name", "readlab_counting", "--crate-type", "cdylib"]);
    command.args(["-O", "-C", "panic=abort", "-C", "strip=symbols", "--target"]).arg(target);
    if let Some(linker) = variable("RUSTC_LINKER") {
        command.arg("-C").arg(format!("linker={}", linker.to_string_lossy()));
    }
    let built = command.arg("-o").arg(&library).arg(source.join("lib.rs")).output();
    let failure = match built {
        Ok(output) if output.status.success() => None,
        Ok(output) => {
            Some(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned())
        }
        Err(cause) => Some(cause.to_string()),
    };
    if let Some(why) = failure {
        println!(
            "cargo::warning=allocations will not be counted: the counting library does not build: {why}"
        );
        std::fs::write(&library, []).expect("cargo's output folder is writable");
    }
    println!("cargo::rerun-if-changed={}", source.display());
}
