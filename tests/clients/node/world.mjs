// What the entries work with: a tag, a schema, a prompt and a document that has been read and extracted.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const PASSWORD = "a long enough secret";
export const EXTRACTED = { invoice_number: "A-4711", total: 1250 };
const SECONDS = 90;

export function responseFormat(...names) {
  const properties = Object.fromEntries(names.map((name) => [name, { type: name === "total" ? "number" : "string" }]));
  const schema = { type: "object", properties, required: names, additionalProperties: false };
  return { type: "json_schema", json_schema: { name: "invoice", schema, strict: true } };
}

export function makeWorld({ account, session, org, given }) {
  const world = { account, session, org, given, count: 0 };
  world.unique = (word) => `${word} ${(world.count += 1)}`;
  world.upload = async (name, more = {}) => {
    const made = await org.uploadDocuments({ documents: [{ name, content: given.pdf, ...more }] });
    return made.documents[0].document_id;
  };
  world.settled = (documentId, state = "llm_completed") => settled(org, documentId, state);
  world.letter = (email, word) => letter(given.letters, email, word);
  world.newUser = () => {
    const email = `node${(world.count += 1)}@example.com`;
    return account.createUser({ email, name: "Node", password: PASSWORD });
  };
  return world;
}

export async function fill(world) {
  const { org } = world;
  world.tag = await org.createTag({ tag: { name: "Invoices of node", color: "#112233" } });
  world.schema = await org.createSchema({
    name: "Invoice of node",
    response_format: responseFormat("invoice_number", "total"),
  });
  world.prompt = await org.createPrompt({
    prompt: {
      name: "Read invoices of node",
      content: "Read the invoice.",
      schema_id: world.schema.schema_id,
      schema_version: world.schema.schema_version,
      tag_ids: [world.tag.id],
      model: "gpt-4o-mini",
    },
  });
  world.documentId = await world.upload("node.pdf", { tag_ids: [world.tag.id], metadata: { origin: "node" } });
  await world.settled(world.documentId);
}

async function settled(org, documentId, wanted) {
  const end = Date.now() + SECONDS * 1000;
  let state = "";
  while (Date.now() < end) {
    ({ state } = await org.getDocument({ documentId, fileType: "original" }));
    if (state === wanted) return;
    if (state.endsWith("_failed")) throw new Error(`the document is ${state}`);
    await sleep(300);
  }
  throw new Error(`the document is still ${state}`);
}

// The token in the link of the newest letter to this person.
async function letter(folder, email, word) {
  const texts = [];
  for (const name of (await readdir(folder)).sort()) texts.push(await readFile(join(folder, name), "utf8"));
  const own = texts.filter((text) => text.includes(`To: ${email}`) && text.includes(`/${word}/`));
  const found = own.at(-1)?.match(new RegExp(`/${word}/([\\w-]+)`));
  if (!found) throw new Error(`no letter to ${email} among ${texts.length}`);
  return found[1];
}
