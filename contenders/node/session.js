// The turns of a session: reads with a clock around each timed reading, and prints only after the last one of a turn.
// The clock is process.hrtime.bigint; CPU times are those of process.resourceUsage, which is getrusage.
'use strict';

const readline = require('readline');
const { Meters } = require('./meters');
const { FileFailure, Refusal, cause } = require('./refusal');
const say = require('./say');

const TURN = /^go (\d{1,10}) (\d{1,10})$/;
const TURN_MAX = 0xffffffff;
const NS_PER_US = 1000;

/** Takes turns until the end of the input. */
async function serve(request, input) {
  await orRefusal(request, () => request.method.prepare?.(request));
  say.ready(request.params);
  for await (const line of readline.createInterface({ input })) {
    const [lead, count] = parseTurn(line);
    const samples = await orRefusal(request, () => turn(request, lead, count));
    // The bytes that were read are garbage now, and are collected before the turn ends; the roster starts Node with
    // --expose-gc.
    globalThis.gc?.();
    say.samples(samples);
  }
}

/** What the action returns; a failure becomes a refusal with the target, or one file of it, and the cause. */
async function orRefusal(request, action) {
  try {
    return await action();
  } catch (failure) {
    if (failure instanceof Refusal) throw failure;
    const shown = failure instanceof FileFailure ? failure.path : request.shown;
    throw new Refusal(`${shown}: ${cause(failure)}`);
  }
}

function parseTurn(line) {
  const words = TURN.exec(line);
  const [lead, count] = words ? words.slice(1).map(Number) : [0, 0];
  if (count === 0 || Math.max(lead, count) > TURN_MAX) {
    throw new Refusal(`expected \`go LEAD COUNT\` with COUNT above 0, got '${line}'`);
  }
  return [lead, count];
}

async function turn(request, lead, count) {
  for (let i = 0; i < lead; i++) await request.method.read(request, new Meters());
  const samples = [];
  for (let i = 0; i < count; i++) samples.push(await timed(request));
  return samples;
}

async function timed(request) {
  const before = process.resourceUsage();
  const meters = new Meters();
  const answer = await request.method.read(request, meters);
  const wall_ns = meters.elapsed();
  const after = process.resourceUsage();
  return {
    wall_ns,
    cpu_user_ns: (after.userCPUTime - before.userCPUTime) * NS_PER_US,
    cpu_system_ns: (after.systemCPUTime - before.systemCPUTime) * NS_PER_US,
    ...meters.seen,
    ...answer,
  };
}

module.exports = { serve };
