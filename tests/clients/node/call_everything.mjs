// Calls every method of the published npm client against a running server and prints what became of each as JSON.
// The environment says where: see test_node_sdk.py. Methods come from the client's own prototypes, so that none is
// forgotten: each needs an entry in account.mjs or organization.mjs, or its name in out_of_scope.mjs.
import assert from "node:assert/strict";
import { DocRouterAccount, DocRouterOrg } from "@docrouter/sdk";
import { ACCOUNT } from "./account.mjs";
import { ORGANIZATION } from "./organization.mjs";
import { OUT_OF_SCOPE } from "./out_of_scope.mjs";
import { fill, makeWorld } from "./world.mjs";

const given = JSON.parse(process.env.DOCROUTER_TEST);
const account = new DocRouterAccount({ baseURL: given.url, accountToken: given.accountToken });
const org = new DocRouterOrg({
  baseURL: given.url,
  orgToken: given.organizationToken,
  organizationId: given.organizationId,
});
// The same client with a signed session instead of a token: an account's token ends where an organization's addresses
// begin.
const session = new DocRouterAccount({ baseURL: given.url, accountToken: given.sessionToken });
const returned = new Set();

function methodsOf(client) {
  const prototype = Object.getPrototypeOf(client);
  return Object.getOwnPropertyNames(prototype).filter(
    (name) => name !== "constructor" && typeof prototype[name] === "function",
  );
}

function note(client) {
  for (const name of methodsOf(client)) {
    const original = client[name].bind(client);
    client[name] = (...args) => {
      const result = original(...args);
      if (!(result instanceof Promise)) {
        returned.add(name);
        return result;
      }
      return result.then((value) => {
        returned.add(name);
        return value;
      });
    };
  }
}

async function refused(call) {
  const error = await call().then(
    () => null,
    (problem) => problem,
  );
  assert.equal(error?.status, 404, "a product that has no such part says 404");
  assert.equal(error.message, "Not Found");
}

async function tryOne(client, name, entry, outOfScope, world) {
  try {
    if (outOfScope) {
      await refused(() => client[name](...outOfScope(given)));
      return { outcome: "out of scope" };
    }
    if (!entry) return { outcome: "not called", error: "no entry" };
    returned.delete(name);
    await entry(world);
    return returned.has(name) ? { outcome: "fine" } : { outcome: "not called", error: "the entry calls another" };
  } catch (error) {
    const error_text = `${error.message} ${JSON.stringify(error.details ?? null)} ${error.stack ?? ""}`;
    return { outcome: "failed", error: error_text.slice(0, 1500) };
  }
}

async function tryAll(client, kind, entries, world) {
  const report = {};
  for (const name of methodsOf(client)) {
    report[name] = await tryOne(client, name, entries[name], OUT_OF_SCOPE[kind][name], world);
  }
  const unknown = Object.keys({ ...entries, ...OUT_OF_SCOPE[kind] }).filter((name) => !(name in report));
  for (const name of unknown) report[name] = { outcome: "not called", error: "the client has no such method" };
  return report;
}

note(account);
note(session);
note(org);
const world = makeWorld({ account, session, org, given });
const report = { account: await tryAll(account, "account", ACCOUNT, world) };
try {
  await fill(world);
  report.organization = await tryAll(org, "organization", ORGANIZATION, world);
} catch (error) {
  const reason = `the organization could not be filled: ${error.stack}`;
  report.organization = Object.fromEntries(methodsOf(org).map((name) => [name, { outcome: "failed", error: reason }]));
}
process.stdout.write(JSON.stringify(report));
