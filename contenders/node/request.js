// The request of one session: a method, the work and the scan, the target, and every parameter in force.
'use strict';

const { Refusal, Unavailable } = require('./refusal');
const { targetOf } = require('./target');

/** The part of the file that words ask for, or null, and the other words. */
function partOf(method, words) {
  const bounds = {};
  const others = words.filter((word) => {
    const [, name, digits] = /^(start|length)_bytes=(\d{1,15})$/.exec(word) ?? [];
    if (!method.parts || !name) return true;
    bounds[name] = Number(digits);
    return false;
  });
  const given = Object.keys(bounds).length;
  if (given === 1) throw new Refusal('a part needs both start_bytes and length_bytes');
  return { part: given === 2 ? bounds : null, others };
}

function setting(method, word) {
  const [name, ...digits] = word.split('=');
  const param = method.params.find((known) => known.name === name);
  if (!param) throw new Refusal(`${method.name} has no parameter '${name}'`);
  const value = /^\d{1,15}$/.test(digits.join('=')) ? Number(digits[0]) : -1;
  if (value < param.min || value > param.max) {
    throw new Refusal(`${name} must be an integer from ${param.min} to ${param.max}, got '${word}'`);
  }
  return [name, value];
}

/** Reads METHOD SCAN WORK TARGET [name=value ...] and checks it against the method. */
function parse(contender, words) {
  const [name, scan, work] = words;
  const method = contender.methods.find((known) => known.name === name);
  if (!method) throw new Refusal(`there is no method '${name}'`);
  if (!Object.hasOwn(method.scans, work)) throw new Refusal(`${name} does not do the work '${work}'`);
  if (!method.scans[work].includes(scan)) throw new Refusal(`${name} has no scan '${scan}' for ${work}`);
  const defaults = method.params.map((param) => [param.name, param.default]);
  const { part, others } = partOf(method, words.slice(4));
  const given = others.map((word) => setting(method, word));
  const params = Object.fromEntries([...defaults, ...given]);
  if (method.unavailable) throw new Unavailable(method.unavailable);
  return { method, scan, work, ...targetOf(contender, method, words, 3), part, params };
}

module.exports = { parse };
