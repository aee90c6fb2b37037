// One entry for each method of DocRouterOrg.
import assert from "node:assert/strict";
import { changeToken, chat, chatStream } from "./account.mjs";
import { EXTRACTED, responseFormat } from "./world.mjs";

const same = (one, other) => assert.deepEqual(one, other);
const newSchema = ({ org, unique }, ...names) =>
  org.createSchema({ name: unique("Schema"), response_format: responseFormat(...names, "total") });
const newPrompt = ({ org, unique }, more = {}) =>
  org.createPrompt({ prompt: { name: unique("Prompt"), content: "What is this?", ...more } });
const newTag = ({ org, unique }) => org.createTag({ tag: { name: unique("Tag"), color: "#445566" } });

// A document with a result of its own.
async function ownResult(world) {
  const documentId = await world.upload(world.unique("own") + ".pdf", { tag_ids: [world.tag.id] });
  await world.settled(documentId);
  return { documentId, promptId: world.prompt.prompt_revid };
}

export const ORGANIZATION = {
  async updateToken({ org, given }) {
    await changeToken(org, given.organizationToken, () => org.listTags());
  },
  async uploadDocuments({ org, given, settled }) {
    const content = `data:application/pdf;base64,${given.pdf}`;
    const { documents } = await org.uploadDocuments({
      documents: [
        { name: "first.pdf", content, metadata: { number: "1" } },
        { name: "second.pdf", content: given.pdf },
      ],
    });
    same(documents.map((one) => one.document_name), ["first.pdf", "second.pdf"]);
    same(documents[0].metadata, { number: "1" });
    await settled(documents[0].document_id, "ocr_completed");
  },
  async listDocuments({ org, tag, documentId }) {
    for (const search of [{ nameSearch: "NODE.PDF" }, { metadataSearch: "origin=node" }]) {
      const found = await org.listDocuments({ ...search, tagIds: tag.id });
      same(found.documents.map((one) => one.id), [documentId]);
      assert.equal(found.total_count, 1);
    }
    assert.ok((await org.listDocuments()).documents.length > 0);
  },
  async getDocument({ org, documentId, given }) {
    for (const fileType of ["original", "pdf", undefined]) {
      const found = await org.getDocument({ documentId, fileType });
      assert.equal(Buffer.from(found.content).toString("base64"), given.pdf);
      assert.equal(found.type, "application/pdf");
      assert.equal(found.pdf_id, documentId);
    }
  },
  async updateDocument({ org, tag, upload }) {
    const documentId = await upload("before.pdf");
    const changes = { documentName: "after.pdf", tagIds: [tag.id], metadata: { a: "b" } };
    same(await org.updateDocument({ documentId, ...changes }), { message: "Document updated successfully" });
    const found = await org.getDocument({ documentId, fileType: "original" });
    same([found.document_name, found.tag_ids, found.metadata], ["after.pdf", [tag.id], { a: "b" }]);
    same(await org.updateDocument({ documentId }), { message: "No updates provided" });
    await org.deleteDocument({ documentId });
  },
  async deleteDocument({ org, upload }) {
    const documentId = await upload("gone.pdf");
    same(await org.deleteDocument({ documentId }), { message: "Document deleted successfully" });
    await assert.rejects(org.deleteDocument({ documentId }), { status: 404, message: "Document not found" });
  },
  async getOCRBlocks({ org, documentId }) {
    const blocks = await org.getOCRBlocks({ documentId });
    const word = blocks.find((block) => block.BlockType === "WORD" && block.Text === "A-4711");
    assert.equal(word.Page, 1);
    assert.equal(word.Geometry.Polygon.length, 4);
    const ids = new Set(blocks.map((block) => block.Id));
    assert.ok(blocks.flatMap((block) => block.Relationships ?? []).every((one) => one.Ids.every((id) => ids.has(id))));
  },
  async getOCRText({ org, documentId }) {
    assert.match(await org.getOCRText({ documentId }), /A-4711[^]*Thirty days net/);
    assert.doesNotMatch(await org.getOCRText({ documentId, pageNum: 2 }), /A-4711/);
  },
  async getOCRMetadata({ org, documentId }) {
    const found = await org.getOCRMetadata({ documentId });
    assert.equal(found.n_pages, 2);
    assert.ok(!Number.isNaN(Date.parse(found.ocr_date)));
  },
  async runLLM({ org, documentId, prompt }) {
    const asked = await org.runLLM({ documentId, promptRevId: prompt.prompt_revid, force: true });
    same([asked.status, asked.result], ["success", EXTRACTED]);
    assert.equal((await org.runLLM({ documentId, promptRevId: "default" })).status, "success");
  },
  async getLLMResult({ org, documentId, prompt }) {
    const found = await org.getLLMResult({ documentId, promptRevId: prompt.prompt_revid, fallback: false });
    same(found.llm_result, EXTRACTED);
    same([found.prompt_revid, found.prompt_version, found.document_id], [prompt.prompt_revid, 1, documentId]);
  },
  async updateLLMResult(world) {
    const own = await ownResult(world);
    const result = { ...EXTRACTED, total: 99.5 };
    const changed = await world.org.updateLLMResult({ ...own, result, isVerified: true });
    same([changed.llm_result, changed.updated_llm_result], [EXTRACTED, result]);
    same([changed.is_edited, changed.is_verified], [true, true]);
    await assert.rejects(world.org.updateLLMResult({ ...own, result: { total: 1 } }), { status: 400 });
  },
  async deleteLLMResult(world) {
    const own = await ownResult(world);
    assert.equal((await world.org.deleteLLMResult(own)).status, "success");
    await assert.rejects(world.org.deleteLLMResult(own), { status: 404 });
  },
  async downloadAllLLMResults({ org, documentId, prompt }) {
    const file = await org.downloadAllLLMResults({ documentId });
    const found = await new Response(file).json();
    assert.equal(found.document_id, documentId);
    const own = found.results.find((one) => one.prompt_revid === prompt.prompt_revid);
    same(own.extraction_result, EXTRACTED);
    assert.equal(own.metadata.is_edited, false);
  },
  async createPrompt(world) {
    const made = await newPrompt(world, { tag_ids: [world.tag.id], schema_id: world.schema.schema_id });
    same([made.prompt_version, made.schema_version, made.tag_ids], [1, 1, [world.tag.id]]);
    await world.org.deletePrompt({ promptId: made.prompt_id });
    await assert.rejects(newPrompt(world, { model: "no-such-model" }), { status: 400 });
  },
  async listPrompts({ org, prompt, documentId, tag }) {
    for (const search of [{ document_id: documentId }, { tag_ids: tag.id }, { nameSearch: "INVOICES OF NODE" }]) {
      const found = await org.listPrompts(search);
      same(found.prompts.map((one) => one.prompt_revid), [prompt.prompt_revid]);
    }
    assert.ok((await org.listPrompts()).total_count > 0);
  },
  async getPrompt({ org, prompt }) {
    const found = await org.getPrompt({ promptRevId: prompt.prompt_revid });
    same([found.name, found.content, found.model], ["Read invoices of node", "Read the invoice.", "gpt-4o-mini"]);
  },
  async updatePrompt(world) {
    const made = await newPrompt(world);
    const prompt = { name: made.name, content: "Who wrote this?" };
    const changed = await world.org.updatePrompt({ promptId: made.prompt_id, prompt });
    same([changed.prompt_id, changed.prompt_version, changed.content], [made.prompt_id, 2, prompt.content]);
  },
  async deletePrompt(world) {
    const made = await newPrompt(world);
    same(await world.org.deletePrompt({ promptId: made.prompt_id }), { message: "Prompt deleted successfully" });
    await assert.rejects(world.org.getPrompt({ promptRevId: made.prompt_revid }), { status: 404 });
  },
  async listPromptVersions(world) {
    const made = await newPrompt(world);
    await world.org.updatePrompt({ promptId: made.prompt_id, prompt: { name: made.name, content: "And now?" } });
    const found = await world.org.listPromptVersions({ promptId: made.prompt_id });
    same([found.prompts.map((one) => one.prompt_version), found.total_count], [[2, 1], 2]);
  },
  async createTag(world) {
    const made = await newTag(world);
    assert.equal(made.color, "#445566");
    await assert.rejects(world.org.createTag({ tag: { name: made.name } }), { status: 400 });
  },
  async getTag({ org, tag }) {
    const found = await org.getTag({ tagId: tag.id });
    same([found.name, found.color], ["Invoices of node", "#112233"]);
  },
  async listTags({ org, tag }) {
    const found = await org.listTags({ nameSearch: "INVOICES OF NODE" });
    same(found.tags.map((one) => one.id), [tag.id]);
  },
  async updateTag(world) {
    const made = await newTag(world);
    const tag = { name: `${made.name}, new`, color: "#000000", description: "Now said" };
    const changed = await world.org.updateTag({ tagId: made.id, tag });
    same([changed.id, changed.name, changed.color, changed.description], [made.id, tag.name, tag.color, tag.description]);
  },
  async deleteTag(world) {
    const made = await newTag(world);
    same(await world.org.deleteTag({ tagId: made.id }), { message: "Tag deleted successfully" });
    await assert.rejects(world.org.getTag({ tagId: made.id }), { status: 404, message: "Tag not found" });
  },
  async createSchema(world) {
    const made = await newSchema(world, "buyer");
    same([made.schema_version, made.response_format], [1, responseFormat("buyer", "total")]);
  },
  async listSchemas({ org, schema }) {
    const found = await org.listSchemas({ nameSearch: "INVOICE OF NODE" });
    same(found.schemas.map((one) => one.schema_revid), [schema.schema_revid]);
  },
  async getSchema({ org, schema }) {
    const found = await org.getSchema({ schemaRevId: schema.schema_revid });
    same([found.name, found.schema_id], [schema.name, schema.schema_id]);
  },
  async updateSchema(world) {
    const made = await newSchema(world, "buyer");
    const schema = { response_format: responseFormat("shop", "total") };
    const changed = await world.org.updateSchema({ schemaId: made.schema_id, schema });
    same([changed.schema_id, changed.schema_version, changed.name], [made.schema_id, 2, made.name]);
  },
  async deleteSchema(world) {
    const made = await newSchema(world, "buyer");
    same(await world.org.deleteSchema({ schemaId: made.schema_id }), { message: "Schema deleted successfully" });
    await assert.rejects(world.org.deleteSchema({ schemaId: world.schema.schema_id }), { status: 400 });
  },
  async validateAgainstSchema({ org, schema }) {
    const call = (data) => org.validateAgainstSchema({ schemaRevId: schema.schema_revid, data });
    same(await call(EXTRACTED), { valid: true });
    const refused = await call({ ...EXTRACTED, total: "much" });
    same([refused.valid, refused.errors.map((error) => error.path)], [false, ["total"]]);
  },
  async listSchemaVersions(world) {
    const made = await newSchema(world, "buyer");
    const schema = { response_format: responseFormat("shop", "total") };
    await world.org.updateSchema({ schemaId: made.schema_id, schema });
    const found = await world.org.listSchemaVersions({ schemaId: made.schema_id });
    same([found.schemas.map((one) => one.schema_version), found.total_count], [[2, 1], 2]);
  },
  runLLMChat: ({ org }) => chat(org),
  async listLLMModels({ org }) {
    const { models } = await org.listLLMModels();
    assert.ok(models.length > 0 && models.every((name) => typeof name === "string"));
  },
  runLLMChatStream: ({ org }) => chatStream(org),
  async getHttpClient({ org, given }) {
    const found = await org.getHttpClient().get(`/v0/orgs/${given.organizationId}/tags?limit=1`);
    assert.equal(found.tags.length, 1);
  },
};
