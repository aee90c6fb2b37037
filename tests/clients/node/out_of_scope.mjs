// What this product does not have: forms, payments, cloud credentials, flows, knowledge bases. The client's methods
// for them, by name, with arguments that reach the server: it has to answer that there is no such address.
const payments = (...first) => ({
  getCustomerPortal: () => [...first],
  getSubscription: () => [...first],
  activateSubscription: () => [...first],
  cancelSubscription: () => [...first],
  getCurrentUsage: () => [...first],
  addCredits: () => [...first, 5],
  getCreditConfig: () => [...first],
  purchaseCredits: () => [...first, { credits: 5, success_url: "http://127.0.0.1/", cancel_url: "http://127.0.0.1/" }],
  getUsageRange: () => [...first, { start_date: "2026-01-01", end_date: "2026-02-01" }],
  createCheckoutSession: () => [...first, "team"],
});
const id = "0123456789abcdef01234567";

export const OUT_OF_SCOPE = {
  account: {
    createAWSConfig: () => [{ access_key_id: "A".repeat(20), secret_access_key: "b".repeat(40), s3_bucket_name: "c" }],
    getAWSConfig: () => [],
    deleteAWSConfig: () => [],
    ...payments(id),
  },
  organization: {
    createForm: () => [{ name: "Form", response_format: {} }],
    listForms: () => [{}],
    getForm: () => [{ formRevId: id }],
    updateForm: () => [{ formId: id, form: { name: "Form" } }],
    deleteForm: () => [{ formId: id }],
    listFormVersions: () => [{ formId: id }],
    submitForm: () => [{ documentId: id, formRevId: id, submission_data: {} }],
    getFormSubmission: () => [{ documentId: id, formRevId: id }],
    deleteFormSubmission: () => [{ documentId: id, formRevId: id }],
    ...payments(),
  },
};
