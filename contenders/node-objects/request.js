// The request of one session: a method, the work and the scan, the target, and every parameter in force.
'use strict';

const { METHODS } = require('./methods');
const { Refusal, Unavailable } = require('./refusal');
const { targetOf } = require('./target');

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
function parse(words, sdk) {
  const [name, scan, work, target, ...settings] = words;
  const method = METHODS.find((known) => known.name === name);
  if (!method) throw new Refusal(`there is no method '${name}'`);
  if (!Object.hasOwn(method.scans, work)) throw new Refusal(`${name} does not do the work '${work}'`);
  if (!method.scans[work].includes(scan)) throw new Refusal(`${name} has no scan '${scan}' for ${work}`);
  const defaults = method.params.map((param) => [param.name, param.default]);
  const given = settings.map((word) => setting(method, word));
  const reason = sdk.missing();
  if (reason) throw new Unavailable(reason);
  return { sdk, method, scan, work, ...targetOf(target), params: Object.fromEntries([...defaults, ...given]) };
}

module.exports = { parse };
