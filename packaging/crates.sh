#!/bin/sh
# The crates that are published, each after those it needs.
echo readlab-protocol readlab-auto readlab-rust readlab-command readlab-stats readlab-model readlab-system \
    readlab-corpus readlab-targets readlab-record readlab-analysis readlab-suite readlab-claims readlab-catalog \
    readlab-roster readlab-measure readlab-fleet readlab-report readlab-run readlab-verify readlab readlab-harness
