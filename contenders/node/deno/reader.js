// The contender of readlab for Deno: its own ways of reading files, and the module fs as Deno has
// it. Deno takes paths as strings only.
'use strict';

const { main } = require('../conversation');
const { METHODS } = require('./methods');

const { deno, v8 } = Deno.version;
main({ name: 'deno', runtime: `Deno ${deno}, V8 ${v8}`, methods: METHODS, onlyText: true });
