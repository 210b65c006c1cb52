#!/bin/sh
# Builds the agent with the mpicc on the PATH: build/fleet-agent. It takes the place of an older one at once, which other
# ranks may be running.
set -eu
cd "$(dirname "$0")"
mkdir -p build
mpicc -std=gnu11 -O2 -Wall -Wextra -o "build/fleet-agent.$$" agent.c
mv "build/fleet-agent.$$" build/fleet-agent
