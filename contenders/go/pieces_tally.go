package main

import "os"

// The consumer of methods that read several files, or several blocks of one: it visits each as a
// whole, adds up the answers, and proves that none stands for another, as PROTOCOL.md says (several
// files, places of a file).

// The numbers of a piece are taken modulo this in its proof.
const proofModulus = 65521

// A piecesTally adds up several files or blocks, and proves each of them.
type piecesTally struct {
	request  request
	all      *tally
	pieces   uint64
	products uint64
}

func newPiecesTally(r request) *piecesTally {
	return &piecesTally{request: r, all: newTally(r)}
}

// readFile reads one file whole.
func (t *piecesTally) readFile(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	t.take(uint64(len(content)), content)
	return nil
}

// take visits a file or a block, which its number proves.
func (t *piecesTally) take(number uint64, content []byte) {
	piece := newTally(t.request)
	piece.take(content)
	t.all.add(piece)
	t.pieces++
	t.products += (number%proofModulus + 1) * (piece.value()%proofModulus + 1)
	t.products %= 1 << 32
}

// add takes what another tally of the same reading has found.
func (t *piecesTally) add(other *piecesTally) {
	t.all.add(other.all)
	t.pieces += other.pieces
	t.products = (t.products + other.products) % (1 << 32)
}

func (t *piecesTally) answer() answer {
	found := t.all.answer()
	found.Products = &t.products
	if t.request.method.reads == "places" {
		found.Blocks = &t.pieces
	} else {
		found.Files = &t.pieces
	}
	return found
}
