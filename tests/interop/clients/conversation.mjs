// One conversation of a TypeScript client, whichever version of the SDK it is of. The job comes as JSON in the first
// argument: {"connection": {"command": [...]} or {"url": "..."}, "calls": {"label": {"name": ..., "arguments": ...}}}.
// Printed is {"version", "pages", "tools", "outcomes"}; an outcome is {"result": ...} where callTool resolved and
// {"thrown": ...} where it threw.
export async function converse(connect) {
  const { connection, calls } = JSON.parse(process.argv[2]);
  const { client, version } = await connect(connection);
  const pages = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor });
    pages.push(page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const outcomes = {};
  for (const [label, call] of Object.entries(calls)) {
    try {
      outcomes[label] = { result: await client.callTool(call) };
    } catch (error) {
      outcomes[label] = { thrown: String(error) };
    }
  }
  const told = { version: version(), pages: pages.length, tools: pages.flat(), outcomes };
  await client.close();
  console.log(JSON.stringify(told));
}
