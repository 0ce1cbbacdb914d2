// The client of @modelcontextprotocol/sdk.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { converse } from './conversation.mjs';

await converse(async ({ command, url }) => {
  const client = new Client({ name: 'typescript', version: '1' });
  const transport = url
    ? new StreamableHTTPClientTransport(new URL(url))
    : new StdioClientTransport({ command: command[0], args: command.slice(1), env: process.env, stderr: 'ignore' });
  let version;
  transport.setProtocolVersion = agreed => { version = agreed; };
  await client.connect(transport);
  return { client, version: () => version };
});
