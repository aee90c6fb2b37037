// One entry for each method of DocRouterAccount.
import assert from "node:assert/strict";
import { PASSWORD } from "./world.mjs";

const QUESTION = { model: "docrouter/offline", messages: [{ role: "user", content: "Say something." }], max_tokens: 50 };
const DAYS = 30;

export async function chat(client) {
  const answer = await client.runLLMChat(QUESTION);
  assert.equal(answer.object, "chat.completion");
  assert.equal(answer.choices[0].message.role, "assistant");
  assert.ok(answer.choices[0].message.content.length > 0);
  assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
}

export async function chatStream(client) {
  const chunks = [];
  await client.runLLMChatStream(QUESTION, (chunk) => chunks.push(chunk));
  assert.deepEqual(chunks.at(-1), { chunk: "", done: true });
  assert.ok(chunks.length > 1 && chunks.slice(0, -1).every((chunk) => chunk.done === false));
  assert.ok(chunks.map((chunk) => chunk.chunk).join("").length > 0);
}

// The client keeps the new token: a wrong one has to fail, the right one to work again.
export async function changeToken(client, token, call) {
  client.updateToken("acc_wrong");
  await assert.rejects(call, { status: 401 });
  client.updateToken(token);
  await call();
}

async function newOrganization({ account, unique }, type = "team") {
  return account.createOrganization({ name: unique("Organization"), type });
}

async function invited(world) {
  const email = `invited${(world.count += 1)}@example.com`;
  const made = await world.account.createInvitation({
    email,
    organization_id: world.given.organizationId,
    role: "user",
  });
  return { email, made, token: await world.letter(email, "invitation") };
}

export const ACCOUNT = {
  async updateToken({ account, given }) {
    await changeToken(account, given.accountToken, () => account.getAccountTokens());
  },
  async listOrganizations({ account, given }) {
    const found = await account.listOrganizations({ nameSearch: given.organizationName.toUpperCase(), skip: 0, limit: 5 });
    assert.deepEqual(found.organizations.map((one) => one.id), [given.organizationId]);
    assert.equal(found.total_count, 1);
    const mine = await account.listOrganizations({ userId: given.userId });
    assert.ok(mine.organizations.some((one) => one.id === given.organizationId));
    assert.equal((await account.listOrganizations({ memberSearch: "nobody has this" })).total_count, 0);
  },
  async getOrganization({ account, given }) {
    const found = await account.getOrganization(given.organizationId);
    assert.equal(found.name, given.organizationName);
    assert.deepEqual(found.members[0], { user_id: given.userId, role: "admin" });
  },
  async createOrganization({ account, given, unique }) {
    const name = unique("Organization");
    const made = await account.createOrganization({ name, type: "team" });
    assert.equal(made.name, name);
    assert.equal(made.type, "team");
    assert.deepEqual(made.members, [{ user_id: given.userId, role: "admin" }]);
    assert.ok(!Number.isNaN(Date.parse(made.created_at)));
    await assert.rejects(account.createOrganization({ name }), { status: 400 });
  },
  async updateOrganization(world) {
    const [made, user] = [await newOrganization(world), await world.newUser()];
    const members = [...made.members, { user_id: user.id, role: "user" }];
    const changed = await world.account.updateOrganization(made.id, { name: `${made.name}, Ltd`, type: "team", members });
    assert.equal(changed.name, `${made.name}, Ltd`);
    assert.equal(changed.members.length, 2);
  },
  async deleteOrganization(world) {
    const made = await newOrganization(world);
    assert.deepEqual(await world.account.deleteOrganization(made.id), { status: "success" });
    await assert.rejects(world.account.getOrganization(made.id), { status: 404 });
  },
  async createAccountToken({ account }) {
    const made = await account.createAccountToken({ name: "made", lifetime: DAYS });
    assert.match(made.token, /^acc_[\w-]{43}$/);
    assert.equal(made.organization_id ?? null, null);
    assert.equal(made.lifetime, DAYS);
  },
  async getAccountTokens({ account }) {
    const made = await account.createAccountToken({ name: "listed", lifetime: 0 });
    const found = (await account.getAccountTokens()).find((one) => one.id === made.id);
    assert.ok(found.token.startsWith(made.token.slice(0, 10)) && found.token !== made.token);
  },
  async deleteAccountToken({ account }) {
    const made = await account.createAccountToken({ name: "ended", lifetime: DAYS });
    assert.deepEqual(await account.deleteAccountToken(made.id), { message: "Token deleted successfully" });
    await assert.rejects(account.getOrganizationFromToken(made.token), { status: 401 });
  },
  async createOrganizationToken({ session, given }) {
    const made = await session.createOrganizationToken({ name: "made", lifetime: DAYS }, given.organizationId);
    assert.match(made.token, /^org_[\w-]{43}$/);
    assert.equal(made.organization_id, given.organizationId);
  },
  async getOrganizationTokens({ session, given }) {
    const made = await session.createOrganizationToken({ name: "listed", lifetime: 0 }, given.organizationId);
    const found = await session.getOrganizationTokens(given.organizationId);
    assert.ok(found.some((one) => one.id === made.id && one.name === "listed"));
  },
  async deleteOrganizationToken({ session, given }) {
    const made = await session.createOrganizationToken({ name: "ended", lifetime: DAYS }, given.organizationId);
    const said = await session.deleteOrganizationToken(made.id, given.organizationId);
    assert.deepEqual(said, { message: "Token deleted successfully" });
  },
  async getOrganizationFromToken({ account, given }) {
    const found = await account.getOrganizationFromToken(given.organizationToken);
    assert.equal(found.organization_id, given.organizationId);
    assert.equal(found.organization_name, given.organizationName);
    const none = { organization_id: null, organization_name: null, organization_type: null };
    assert.deepEqual(await account.getOrganizationFromToken(given.accountToken), none);
  },
  async listLLMModels({ account }) {
    const found = await account.listLLMModels({ providerEnabled: true, llmEnabled: true });
    const offline = found.models.find((model) => model.litellm_model === "docrouter/offline");
    assert.equal(offline.input_cost_per_token, 0);
    const all = await account.listLLMModels({ providerName: "anthropic", llmEnabled: false });
    assert.ok(all.models.length > 0 && all.models.every((model) => model.litellm_provider === "anthropic"));
  },
  async listLLMProviders({ account }) {
    const { providers } = await account.listLLMProviders();
    const found = providers.find((one) => one.name === "anthropic");
    assert.ok(found.litellm_models_available.length > 0);
    assert.equal(found.token, null);
  },
  async setLLMProviderConfig({ account }) {
    const before = (await account.listLLMProviders()).providers.find((one) => one.name === "groq");
    const wanted = before.litellm_models_available.slice(0, 1);
    const said = await account.setLLMProviderConfig("groq", {
      litellm_models_enabled: wanted,
      enabled: true,
      token: "gsk-not-a-real-token-0123456789abcdef",
    });
    assert.deepEqual(said, { message: "LLM provider config updated successfully" });
    const after = (await account.listLLMProviders()).providers.find((one) => one.name === "groq");
    assert.deepEqual(after.litellm_models_enabled, wanted);
    assert.equal(after.token, "gsk-not-a-real-t******");
    await account.setLLMProviderConfig("groq", { litellm_models_enabled: null, enabled: before.enabled, token: "" });
    await assert.rejects(account.setLLMProviderConfig("nobody", { enabled: true }), { status: 400 });
  },
  async listUsers({ account, given }) {
    const found = await account.listUsers({ organization_id: given.organizationId, limit: 50 });
    assert.ok(found.users.some((one) => one.id === given.userId));
    assert.equal((await account.listUsers({ search_name: "nobody has this" })).total_count, 0);
  },
  async getUser({ account, given }) {
    const found = await account.getUser(given.userId);
    assert.equal(found.email, given.email);
    assert.equal(found.role, "admin");
    assert.equal(found.has_password, true);
  },
  async createUser(world) {
    const made = await world.newUser();
    assert.equal(made.name, "Node");
    assert.equal(made.role, "user");
    const again = { email: made.email, name: "Again", password: PASSWORD };
    await assert.rejects(world.account.createUser(again), { status: 400, message: "Email already registered" });
  },
  async updateUser(world) {
    const made = await world.newUser();
    const changed = await world.account.updateUser(made.id, { name: "Renamed", email_verified: true, has_seen_tour: true });
    assert.equal(changed.name, "Renamed");
    assert.equal(changed.email_verified, true);
  },
  async deleteUser(world) {
    const made = await world.newUser();
    assert.equal(await world.account.deleteUser(made.id), undefined);
    await assert.rejects(world.account.getUser(made.id), { status: 404 });
  },
  async sendVerificationEmail(world) {
    const made = await world.newUser();
    assert.ok((await world.account.sendVerificationEmail(made.id)).message);
    assert.ok(await world.letter(made.email, "verify-email"));
  },
  async sendRegistrationVerificationEmail(world) {
    const made = await world.newUser();
    assert.ok((await world.account.sendRegistrationVerificationEmail(made.id)).message);
    assert.ok(await world.letter(made.email, "verify-email"));
  },
  async verifyEmail(world) {
    const made = await world.newUser();
    await world.account.sendVerificationEmail(made.id);
    assert.ok((await world.account.verifyEmail(await world.letter(made.email, "verify-email"))).message);
    assert.equal((await world.account.getUser(made.id)).email_verified, true);
    await assert.rejects(world.account.verifyEmail("no-such-token"), {
      status: 400,
      message: "Invalid verification token",
    });
  },
  async createInvitation(world) {
    const { email, made } = await invited(world);
    assert.equal(made.email, email);
    assert.equal(made.organization_id, world.given.organizationId);
    assert.ok(Date.parse(made.expires_at) > Date.now());
  },
  async getInvitations(world) {
    const { email } = await invited(world);
    const found = await world.account.getInvitations({ skip: 0, limit: 50 });
    assert.ok(found.invitations.some((one) => one.email === email && one.user_exists === false));
  },
  async getInvitation(world) {
    const { email, token } = await invited(world);
    const found = await world.account.getInvitation(token);
    assert.equal(found.email, email);
    assert.equal(found.organization_name, world.given.organizationName);
  },
  async acceptInvitation(world) {
    const { email, token } = await invited(world);
    assert.ok((await world.account.acceptInvitation(token, { name: "Invited", password: PASSWORD })).message);
    const found = await world.account.listUsers({ organization_id: world.given.organizationId, limit: 50 });
    assert.ok(found.users.some((one) => one.email === email && one.name === "Invited"));
    await assert.rejects(world.account.getInvitation(token), { status: 404 });
  },
  runLLMChat: ({ account }) => chat(account),
  runLLMChatStream: ({ account }) => chatStream(account),
  async getHttpClient({ account, given }) {
    const found = await account.getHttpClient().get("/v0/account/organizations?limit=1");
    assert.equal(found.organizations.length, 1);
    assert.ok(given.organizationId);
  },
};
