// Log in to each of the URLs in the arguments with the client of @modelcontextprotocol/sdk ("1") or
// @modelcontextprotocol/client ("2"), which the first argument chooses, and call `add` there twice: with valid and with nearly
// right arguments. It prints {url: {"refused", "resource", "tools", "sums", "token"}}.
const [version, ...urls] = process.argv.slice(2);
const { Client, StreamableHTTPClientTransport, UnauthorizedError } = version === '1'
  ? {
      ...(await import('@modelcontextprotocol/sdk/client/index.js')),
      ...(await import('@modelcontextprotocol/sdk/client/streamableHttp.js')),
      ...(await import('@modelcontextprotocol/sdk/client/auth.js')),
    }
  : await import('@modelcontextprotocol/client');

class Provider {
  redirectUrl = 'http://127.0.0.1:1/callback';
  clientMetadata = {
    client_name: 'typescript',
    redirect_uris: [this.redirectUrl],
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    token_endpoint_auth_method: 'none',
    scope: 'use',
  };
  clientInformation() { return this.information; }
  saveClientInformation(information) { this.information = information; }
  tokens() { return this.saved; }
  saveTokens(tokens) { this.saved = tokens; }
  codeVerifier() { return this.verifier; }
  saveCodeVerifier(verifier) { this.verifier = verifier; }
  redirectToAuthorization(url) { this.authorization = url; }
}

async function connected(url, authProvider) {
  const client = new Client({ name: 'typescript', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(url), { authProvider });
  try {
    await client.connect(transport);
    return { client };
  } catch (refused) {
    return { transport, refused };
  }
}

const told = {};
for (const url of urls) {
  const provider = new Provider();
  const { transport, refused } = await connected(url, provider);
  if (!(refused instanceof UnauthorizedError)) throw refused ?? new Error('connected without a token');
  const login = await fetch(provider.authorization, { redirect: 'manual' });
  const answer = new URL(login.headers.get('location')).searchParams;
  await transport.finishAuth(version === '1' ? answer.get('code') : answer);
  const { client, refused: again } = await connected(url, provider);
  if (again) throw again;
  const { tools } = await client.listTools();
  const sums = [];
  for (const left of [1, '1']) {
    sums.push((await client.callTool({ name: 'add', arguments: { left, right: 2 } })).structuredContent.result);
  }
  await client.close();
  told[url] = {
    refused: String(refused),
    resource: provider.authorization.searchParams.get('resource'),
    tools: tools.map((tool) => tool.name),
    sums,
    token: provider.saved.access_token,
  };
}
console.log(JSON.stringify(told));
