//! Compiles the libraries that count allocations and trace read calls inside contenders.
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={LIBRARY_SOURCES_FOLDER}");
    // No contender is started on other systems.
    if std::env::var_os("CARGO_CFG_TARGET_OS").is_none_or(|system| system != "linux") {
        return;
    }
    compile_preloaded("counting", "allocations will not be counted");
    compile_preloaded("tracing", "read calls will not be traced");
}

/// The sources of the libraries that are preloaded into contenders.
const LIBRARY_SOURCES_FOLDER: &str = "src/linux/preload/libraries";

/// Compiles a library that is preloaded into contenders, as a crate of its own with `core` alone.
/// If it cannot be compiled, an empty file replaces it, and the program reports what it cannot do.
fn compile_preloaded(name: &str, loss: &str) {
    let variable = |name| std::env::var_os(name);
    let (Some(rustc), Some(out), Some(target)) = (variable("RUSTC"), variable("OUT_DIR"), variable("TARGET"))
    else {
        panic!("RUSTC, OUT_DIR and TARGET are set by cargo");
    };
    let library = PathBuf::from(out).join(name).with_extension("so");
    // A static (musl) build of readlab still starts the system's programs, which glibc's loader
    // links.
    let target = target.to_string_lossy().replace("-musl", "-gnu");
    let mut command = Command::new(rustc);
    command.args(["--edition", "2024", "--crate-name", &format!("readlab_{name}"), "--crate-type", "cdylib"]);
    command.args(["-O", "-C", "panic=abort", "-C", "strip=symbols", "--target"]).arg(target);
    if let Some(linker) = variable("RUSTC_LINKER") {
        command.arg("-C").arg(format!("linker={}", linker.to_string_lossy()));
    }
    let built = command.arg("-o").arg(&library).arg(format!("{LIBRARY_SOURCES_FOLDER}/{name}.rs")).output();
    let failure = match built {
        Ok(output) if output.status.success() => None,
        Ok(output) => {
            Some(String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned())
        }
        Err(cause) => Some(cause.to_string()),
    };
    if let Some(why) = failure {
        println!("cargo::warning={loss}: the library for it does not build: {why}");
        std::fs::write(&library, []).expect("cargo's output folder is writable");
    }
}
