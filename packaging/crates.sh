#!/bin/sh
# The crates that are published, each after those it needs.
echo readlab-protocol readlab-auto readlab-rust readlab-command readlab-stats readlab readlab-harness
