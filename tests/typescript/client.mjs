// The TypeScript SDK's client. Usage: node client.mjs '{"server": ["python", "server.py"], "calls": [{"name": "...",
// "arguments": ...}, ...]}'. Prints the tools and the outcome of each call as JSON: {"result": ...} where callTool
// resolved, {"thrown": ...} where it threw.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const { server, calls } = JSON.parse(process.argv[2]);
const [command, ...args] = server;

async function outcome(client, call) {
  try {
    return { result: await client.callTool(call) };
  } catch (error) {
    return { thrown: String(error) };
  }
}

const client = new Client({ name: 'typescript', version: '1' });
await client.connect(new StdioClientTransport({ command, args, env: process.env, stderr: 'ignore' }));
// From here on the client checks structuredContent against the output schemas.
const { tools } = await client.listTools();
const outcomes = [];
for (const call of calls) outcomes.push(await outcome(client, call));
await client.close();
console.log(JSON.stringify({ tools, outcomes }));
