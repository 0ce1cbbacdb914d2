// The TypeScript SDK's client. Usage: node client.mjs '<job>', where the job is JSON:
// {"stdio": ["python", "server.py"]} or {"http": "http://..."}, with "calls": [{"name": ..., "arguments": ...}].
// Prints one JSON array: for each call {"result": ...} where callTool resolved, {"thrown": ...} where it threw.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const job = JSON.parse(process.argv[2]);

function connection() {
  if (job.http) return new StreamableHTTPClientTransport(new URL(job.http));
  const [command, ...args] = job.stdio;
  return new StdioClientTransport({ command, args, env: process.env, stderr: 'ignore' });
}

async function outcome(client, call) {
  try {
    return { result: await client.callTool(call) };
  } catch (error) {
    return { thrown: String(error) };
  }
}

const client = new Client({ name: 'typescript', version: '1' });
await client.connect(connection());
// From here on the client checks structuredContent against the output schemas.
const { tools } = await client.listTools();
const outcomes = [];
for (const call of job.calls) outcomes.push(await outcome(client, call));
await client.close();
console.log(JSON.stringify({ tools, outcomes }));
