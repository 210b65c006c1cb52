package main

import "os"

// The consumer of methods that read several files: it reads each whole, and proves it
// (PROTOCOL.md).

// The numbers of a file are taken modulo this in its proof.
const proofModulus = 65521

// A filesTally adds up several files, and proves each of them.
type filesTally struct {
	request  request
	all      *tally
	files    uint64
	products uint64
}

func newFilesTally(r request) *filesTally {
	return &filesTally{request: r, all: newTally(r)}
}

// read reads one file.
func (t *filesTally) read(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file := newTally(t.request)
	file.take(content)
	t.all.add(file)
	t.files++
	t.products += (file.bytes%proofModulus + 1) * (file.value()%proofModulus + 1)
	t.products %= 1 << 32
	return nil
}

// add takes what another tally of the same reading has found.
func (t *filesTally) add(other *filesTally) {
	t.all.add(other.all)
	t.files += other.files
	t.products = (t.products + other.products) % (1 << 32)
}

func (t *filesTally) answer() answer {
	found := t.all.answer()
	found.Files, found.Products = &t.files, &t.products
	return found
}
