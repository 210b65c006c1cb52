# Homebrew's formula, for Linux: the static program of a release.
class Readlab < Formula
  desc "Find the fastest way to read a file, and what limits it"
  homepage "@REPOSITORY@"
  url "@REPOSITORY@/releases/download/v@VERSION@/readlab-@VERSION@-@TARGET@.tar.gz"
  sha256 "@SHA256@"
  license any_of: ["MIT", "Apache-2.0"]

  depends_on arch: :x86_64
  depends_on :linux

  def install
    bin.install "readlab"
    man1.install "readlab.1"
    bash_completion.install "readlab.bash" => "readlab"
    fish_completion.install "readlab.fish"
    zsh_completion.install "_readlab"
    doc.install "README.md", "REFERENCE.md", "METHOD.md", "REPORT.md", "PROTOCOL.md", "GLOSSARY.md", "THIRD-PARTY.txt"
  end

  test do
    (testpath/"numbers.txt").write((1..100_000).to_a.join("\n"))
    system bin/"readlab", "race", "numbers.txt", "--state", "warm", "--method", "rust/read", "--runs", "3"
  end
end
