// The Node.js contender of readlab: reads files and URLs with Node's standard library.
'use strict';

const { main } = require('./conversation');
const { METHODS } = require('./methods');

main({ name: 'node', runtime: `Node.js ${process.version}, V8 ${process.versions.v8}`, methods: METHODS });
