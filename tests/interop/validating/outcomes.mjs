// Make the calls of a job, {"url": ..., "calls": {"label": {...}}}, and print what the model would read, by label.
export async function converse(connect) {
  const { url, calls } = JSON.parse(process.argv[2]);
  const { call, close } = await connect(url);
  const outcomes = {};
  for (const [label, sent] of Object.entries(calls)) {
    try {
      outcomes[label] = await call(sent);
    } catch (error) {
      outcomes[label] = String(error?.message ?? error);
    }
  }
  await close();
  console.log(JSON.stringify(outcomes));
  process.exit(0);
}
