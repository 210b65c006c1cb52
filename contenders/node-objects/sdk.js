// The AWS SDK for JavaScript, from the folder that build.sh made: the first word of the command line.
'use strict';

const fs = require('fs');
const { createRequire } = require('module');
const path = require('path');

const NODE_MIN = 20;
const PACKAGE = '@aws-sdk/client-s3';

class Sdk {
  constructor(folder) {
    const manifest = path.resolve(folder, 'package.json');
    this.packageFile = path.resolve(folder, 'node_modules', PACKAGE, 'package.json');
    this.require = createRequire(manifest);
  }

  /** Its version; undefined if it is not installed. */
  version() {
    try {
      return JSON.parse(fs.readFileSync(this.packageFile, 'utf8')).version;
    } catch {
      return undefined;
    }
  }

  /** Why it cannot be used here; undefined if it can. */
  missing() {
    if (parseInt(process.versions.node) < NODE_MIN) {
      return `the AWS SDK needs Node.js ${NODE_MIN} or later, found ${process.version}`;
    }
    return this.version() ? undefined : 'the AWS SDK for JavaScript is not installed; build.sh does it';
  }

  /** `{ S3Client, GetObjectCommand }`. */
  load() {
    return this.require(PACKAGE);
  }

  loadHandler() {
    return this.require('@smithy/node-http-handler').NodeHttpHandler;
  }
}

module.exports = { Sdk };
