// One conversation of a TypeScript client, with either version of the SDK. The job is JSON in the first
// argument: {"connection": {"command": [...]} or {"url": "..."}, "calls": {"label": {"name": ..., "arguments": ...}}}.
// It prints {"version", "pages", "tools", "outcomes"}. An outcome is {"result": ...} if callTool resolved and
// {"thrown": ...} if it threw.
export async function converse(connect) {
  const { connection, calls } = JSON.parse(process.argv[2]);
  const { client, version } = await connect(connection);
  let pages = await listed(client);
  // A proxy in front of several servers lists only those that have started. On a busy machine that may be none yet.
  for (let left = 60; left > 0 && !pages.flat().length; left--) {
    await new Promise((resume) => setTimeout(resume, 1000));
    pages = await listed(client);
  }
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

async function listed(client) {
  const pages = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor });
    pages.push(page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return pages;
}
