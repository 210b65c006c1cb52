// The contender of readlab for Bun: its own ways of reading files, and the module fs as Bun has it,
// whose streams take paths as strings only.
'use strict';

const { main } = require('../conversation');
const { METHODS } = require('./methods');

const runtime = `Bun ${Bun.version}, JavaScriptCore ${process.versions.webkit}`;
main({ name: 'bun', runtime, methods: METHODS, onlyText: true });
