// Call a tool with LangChain's adapter for MCP, which validates arguments before it sends them.
import { MultiServerMCPClient } from '@langchain/mcp-adapters';
import { converse } from './outcomes.mjs';

await converse(async url => {
  const client = new MultiServerMCPClient({ notes: { transport: 'http', url } });
  const [tool] = await client.getTools();
  return { call: async sent => {
    const result = await tool.invoke(sent);
    return typeof result === 'string' ? result : result.text ?? result[0]?.text ?? JSON.stringify(result);
  }, close: () => client.close() };
});
