package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A zstd that was compressed with a dictionary: of zstd --train, or of any other bytes.

// dictionaries makes two trained ones and two of other bytes, and returns their paths.
func dictionaries(t *testing.T) (trained, others []string) {
	t.Helper()
	needs(t, "zstd")
	folder := t.TempDir()
	for _, number := range []string{"4711", "17"} {
		words := []string{"zstd", "-q", "--train", "--maxdict=2000", "--dictID=" + number}
		for i := 0; i < 200; i++ {
			path := filepath.Join(folder, fmt.Sprintf("%s-%d", number, i))
			write(t, path, strings.Repeat(record(i, number), 3))
			words = append(words, path)
		}
		path := filepath.Join(folder, "trained-"+number)
		run(t, nil, append(words, "-o", path)...)
		trained = append(trained, path)
		path = filepath.Join(folder, "other-"+number)
		write(t, path, strings.Repeat("a record of "+number+" with the words and\n", 3))
		others = append(others, path)
	}
	return trained, others
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func record(i int, number string) string {
	return fmt.Sprintf("a record %d of %s with the words %d and %d\n", i, number, i*i, i*7919)
}

func content() []byte {
	var records strings.Builder
	for i := 0; i < 1000; i++ {
		records.WriteString(record(i, "4711"))
	}
	return []byte(records.String())
}

// with is a reading of a zstd with a dictionary, if it is named.
func with(t *testing.T, archive []byte, dictionary string) reading {
	file := of(t, "zstd", archive)
	file.environment = []string{"READLAB_DICTIONARY=" + dictionary}
	return file
}

func TestADictionaryDecodes(t *testing.T) {
	trained, others := dictionaries(t)
	for _, dictionary := range []string{trained[0], others[0]} {
		for _, check := range []string{"--check", "--no-check"} {
			frame := run(t, content(), "zstd", "-q", "-c", "-19", check, "-D", dictionary)
			archive := append(frame, frame...)
			file := with(t, archive, dictionary)
			file.answers(t, append(content(), content()...))
			file.params = []string{"concurrency=1"}
			file.answers(t, append(content(), content()...))
		}
		// One that was compressed without it.
		with(t, run(t, content(), "zstd", "-q", "-c"), dictionary).answers(t, content())
	}
}

func TestAnotherDictionaryOrNoneFails(t *testing.T) {
	trained, others := dictionaries(t)
	archive := run(t, content(), "zstd", "-q", "-c", "-19", "-D", trained[0])
	with(t, archive, trained[1]).fails(t, "unknown dictionary")
	with(t, archive, others[0]).fails(t, "unknown dictionary")
	with(t, archive, "").fails(t, "unknown dictionary")
	archive = run(t, content(), "zstd", "-q", "-c", "-19", "-D", others[0])
	for _, dictionary := range []string{trained[0], others[1], ""} {
		with(t, archive, dictionary).fails(t, "")
	}
}

// Its frame does not say that it needs the dictionary.
func TestAFrameWithoutTheNumberOfItsDictionaryIsNeverAWrongAnswer(t *testing.T) {
	trained, _ := dictionaries(t)
	archive := run(t, content(), "zstd", "-q", "-c", "-19", "--no-dictID", "-D", trained[0])
	with(t, archive, trained[0]).isNeverWrong(t, content())
}

func TestADictionaryThatIsNoneFails(t *testing.T) {
	trained, _ := dictionaries(t)
	archive := run(t, content(), "zstd", "-q", "-c", "-D", trained[0])
	absent := filepath.Join(t.TempDir(), "absent")
	with(t, archive, absent).fails(t, "the dictionary "+absent+": no such file or directory")
	broken := filepath.Join(t.TempDir(), "broken")
	bytes, err := os.ReadFile(trained[0])
	if err != nil {
		t.Fatal(err)
	}
	write(t, broken, string(bytes[:20]))
	with(t, archive, broken).fails(t, "")
	// Other methods do not read it.
	gzip := packer{format: "gzip"}
	file := of(t, "gzip", gzip.pack(t, content()))
	file.environment = []string{"READLAB_DICTIONARY=" + absent}
	file.answers(t, content())
}
