// The client of @modelcontextprotocol/client; the second argument is its negotiation mode, "legacy" or "auto".
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { converse } from './conversation.mjs';

await converse(async ({ command, url }) => {
  const client = new Client({ name: 'typescript', version: '2' }, { versionNegotiation: { mode: process.argv[3] } });
  await client.connect(
    url
      ? new StreamableHTTPClientTransport(new URL(url))
      : new StdioClientTransport({ command: command[0], args: command.slice(1), env: process.env, stderr: 'ignore' }),
  );
  return { client, version: () => client.getNegotiatedProtocolVersion() };
});
