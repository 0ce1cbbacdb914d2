// Call a tool with Mastra's client for MCP, which validates arguments before it sends them.
import { MCPClient } from '@mastra/mcp';
import { converse } from './outcomes.mjs';

await converse(async url => {
  const client = new MCPClient({ servers: { notes: { url: new URL(url) } } });
  const [tool] = Object.values(await client.listTools());
  return { call: async sent => {
    const result = await tool.execute(sent);
    return result?.content?.[0]?.text ?? JSON.stringify(result);
  }, close: () => client.disconnect() };
});
