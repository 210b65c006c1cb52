// The client of the SDK, as a program makes it: where objects are, how requests are signed, and an Agent with its
// connections. Settings are those of the environment alone, never of files in the user's home.
'use strict';

const fs = require('fs');
const http = require('http');
const https = require('https');
const { Refusal, cause } = require('./refusal');

const NOTHING = '/dev/null';
// The SDK's own limit, unless more ranges are read at once.
const SOCKETS = 50;

// A profile could change how requests are made, and no other contender would read it.
Object.assign(process.env, { AWS_CONFIG_FILE: NOTHING, AWS_SHARED_CREDENTIALS_FILE: NOTHING });
delete process.env.AWS_PROFILE;
// The version of the SDK is fixed here; what later ones need is no reason of a failure.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED = 'true';

function certificates() {
  const file = process.env.READLAB_CACERT;
  if (!file) return undefined;
  try {
    return fs.readFileSync(file);
  } catch (failure) {
    throw new Refusal(`${file}: ${cause(failure)}`);
  }
}

// Without it the SDK looks for keys elsewhere.
const NOBODY = { accessKeyId: '', secretAccessKey: '' };

/** How requests are signed; without keys they go out as they are. */
function identity() {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = process.env;
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY) {
    return { credentials: NOBODY, signer: { sign: async (request) => request } };
  }
  const credentials = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY };
  return { credentials: AWS_SESSION_TOKEN ? { ...credentials, sessionToken: AWS_SESSION_TOKEN } : credentials };
}

/** What all clients of a session have in common; made before `ready`. */
class Clients {
  constructor(sdk, params) {
    const endpoint = process.env.AWS_ENDPOINT_URL_S3;
    if (!endpoint) throw new Refusal('AWS_ENDPOINT_URL_S3 is not set');
    this.S3Client = sdk.load().S3Client;
    this.NodeHttpHandler = sdk.loadHandler();
    this.Agent = endpoint.startsWith('https:') ? https.Agent : http.Agent;
    this.options = {
      endpoint,
      region: process.env.AWS_REGION,
      forcePathStyle: process.env.READLAB_S3_STYLE !== 'virtual',
      ...identity(),
    };
    this.connections = {
      // Ranges of one reading share connections.
      keepAlive: params.kept === 1 || 'concurrency' in params,
      maxSockets: Math.max(SOCKETS, params.concurrency ?? 0),
      ca: certificates(),
      rejectUnauthorized: true,
    };
  }

  open() {
    const agent = new this.Agent(this.connections);
    const requestHandler = new this.NodeHttpHandler({ httpAgent: agent, httpsAgent: agent });
    return { agent, client: new this.S3Client({ ...this.options, requestHandler }) };
  }
}

/** Closes a client with its connections. */
async function close({ agent, client }) {
  const sockets = [agent.sockets, agent.freeSockets].flatMap((byServer) => Object.values(byServer).flat());
  client.destroy();
  await Promise.all(sockets.map((socket) => socket.closed || new Promise((done) => socket.once('close', done))));
}

module.exports = { Clients, close };
