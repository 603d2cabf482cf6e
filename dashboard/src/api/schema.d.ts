// Generated from the OpenAPI document of the control plane: `make docs`
export interface paths {
    readonly "/auth/authorize": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["startSignIn"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/auth/callback": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["finishSignIn"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/auth/token": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["exchangeCode"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/auth/refresh": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["refreshTokens"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/auth/logout": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete: operations["logout"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/customers/{id}/idp/test": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["testCustomerIdp"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/sessions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listSessions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/sessions/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getSession"];
        readonly put?: never;
        readonly post?: never;
        readonly delete: operations["revokeSession"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/customers": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listCustomers"];
        readonly put?: never;
        readonly post: operations["createCustomer"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/customers/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getCustomer"];
        readonly put: operations["updateCustomer"];
        readonly post?: never;
        readonly delete: operations["deleteCustomer"];
        readonly options?: never;
        readonly head?: never;
        readonly patch: operations["patchCustomer"];
        readonly trace?: never;
    };
    readonly "/customers/{id}/idp": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getCustomerIdp"];
        readonly put?: never;
        readonly post: operations["configureCustomerIdp"];
        readonly delete: operations["deleteCustomerIdp"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/customers/{id}/users": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listUsersOfCustomer"];
        readonly put?: never;
        readonly post: operations["createUser"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/users": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listUsers"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/users/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getUser"];
        readonly put: operations["updateUser"];
        readonly post?: never;
        readonly delete: operations["deleteUser"];
        readonly options?: never;
        readonly head?: never;
        readonly patch: operations["patchUser"];
        readonly trace?: never;
    };
    readonly "/users/{id}/export": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["exportUser"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/erasures": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listErasures"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/erasures/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getErasure"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policies": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listPolicies"];
        readonly put?: never;
        readonly post: operations["createPolicy"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policies/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getPolicy"];
        readonly put: operations["updatePolicy"];
        readonly post?: never;
        readonly delete: operations["deletePolicy"];
        readonly options?: never;
        readonly head?: never;
        readonly patch: operations["patchPolicy"];
        readonly trace?: never;
    };
    readonly "/customers/{id}/policies": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listCustomerPolicies"];
        readonly put?: never;
        readonly post: operations["assignPolicies"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/customers/{id}/policies/{policy_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete: operations["unassignPolicy"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/customers/{id}/policies/{policy_id}/impact": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["previewPolicy"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policies/{id}/customers": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listPolicyCustomers"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policies/{id}/assignments": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["assignPolicyInBulk"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/bulk-assignments": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listBulkAssignments"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/bulk-assignments/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getBulkAssignment"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/bulk-assignments/{id}/cancel": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["cancelBulkAssignment"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policy-sets": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listPolicySets"];
        readonly put?: never;
        readonly post: operations["publishPolicySet"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policy-sets/validate": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["validatePolicySet"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policy-sets/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getPolicySet"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policy-sets/{name}/versions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listPolicySetVersions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policy-sets/{name}/versions/{version}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getPolicySetVersion"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policy-sets/{name}/activate": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["activatePolicySet"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policy-sets/{name}/rollback": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["rollBackPolicySet"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policy-sets/{name}/rollout": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getRollout"];
        readonly put?: never;
        readonly post: operations["startRollout"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policy-sets/{name}/rollouts": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listRollouts"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policy-sets/{name}/rollout/promote": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["promoteRollout"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/policy-sets/{name}/rollout/abort": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["abortRollout"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/gateway/rollout-reports": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["reportRollout"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/analytics/dashboard": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getAnalytics"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/analytics/events": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listEvents"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/events": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getEventFeed"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/analytics/users": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listUserActivity"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/audit/logs": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listAuditLogs"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/webhooks": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listWebhooks"];
        readonly put?: never;
        readonly post: operations["createWebhook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/webhooks/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getWebhook"];
        readonly put: operations["updateWebhook"];
        readonly post?: never;
        readonly delete: operations["deleteWebhook"];
        readonly options?: never;
        readonly head?: never;
        readonly patch: operations["patchWebhook"];
        readonly trace?: never;
    };
    readonly "/webhooks/{id}/rotate-secret": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["rotateWebhookSecret"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/webhooks/{id}/enable": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["enableWebhook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/webhooks/{id}/deliveries": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listWebhookDeliveries"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/webhooks/{id}/deliveries/{delivery_id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getWebhookDelivery"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/webhooks/{id}/test": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["testWebhook"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/webhooks/{id}/deliveries/{delivery_id}/redeliver": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["redeliverWebhookDelivery"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api-keys": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listApiKeys"];
        readonly put?: never;
        readonly post: operations["createApiKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api-keys/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getApiKey"];
        readonly put: operations["updateApiKey"];
        readonly post?: never;
        readonly delete: operations["revokeApiKey"];
        readonly options?: never;
        readonly head?: never;
        readonly patch: operations["patchApiKey"];
        readonly trace?: never;
    };
    readonly "/api-keys/{id}/roll": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["rollApiKey"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/clients": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listClients"];
        readonly put?: never;
        readonly post: operations["createClient"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/clients/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getClient"];
        readonly put: operations["updateClient"];
        readonly post?: never;
        readonly delete: operations["deleteClient"];
        readonly options?: never;
        readonly head?: never;
        readonly patch: operations["patchClient"];
        readonly trace?: never;
    };
    readonly "/clients/{id}/rotate-secret": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["rotateClientSecret"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/dashboard/setup": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["setUp"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/dashboard/invitation": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["acceptInvitation"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/dashboard/login": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["logIn"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/dashboard/session": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getDashboardSession"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/dashboard/logout": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["logOut"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/dashboard/password": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put: operations["changePassword"];
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/dashboard/users": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listDashboardUsers"];
        readonly put?: never;
        readonly post: operations["inviteDashboardUser"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/dashboard/users/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getDashboardUser"];
        readonly put: operations["updateDashboardUser"];
        readonly post?: never;
        readonly delete: operations["deleteDashboardUser"];
        readonly options?: never;
        readonly head?: never;
        readonly patch: operations["patchDashboardUser"];
        readonly trace?: never;
    };
    readonly "/dashboard/users/{id}/invitation": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["inviteDashboardUserAgain"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/gateway/state": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["followState"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/gateway/policy-sets/{name}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getActivePolicySet"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/gateway/policy-sets/{name}/versions/{version}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["getPolicySetVersionForGateway"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/gateway/users/{key}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["lookUpUser"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/gateway/callers/{hash}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["lookUpCaller"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/gateways": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listGateways"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/gateway/registration": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["registerGateway"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/gateway/records": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["takeRecords"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/gateway/statistics": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["takeStatistics"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/sandbox/people": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get: operations["listPeople"];
        readonly put?: never;
        readonly post: operations["createPerson"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/sandbox/people/{id}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post?: never;
        readonly delete: operations["deletePerson"];
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/sandbox/tokens": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["signInHeadless"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/sandbox/reset": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly get?: never;
        readonly put?: never;
        readonly post: operations["resetSandbox"];
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        readonly Meta: {
            /** Format: date-time */
            readonly timestamp: string;
            readonly request_id: string;
        };
        readonly Pagination: {
            readonly current_page: number;
            readonly total_pages: number;
            readonly total_items: number;
            readonly page_size: number;
        };
        readonly Warning: {
            /** @enum {string} */
            readonly code: "NOT_USED_IN_SANDBOX" | "MFA_NOT_ANNOUNCED" | "AUTH_TIME_NOT_ANNOUNCED" | "POLICY_NOT_ASSIGNED" | "SHORT_SECRET" | "NOT_BASE64" | "INVISIBLE_CHARACTERS";
            readonly message: string;
            /** @description The policy that requires it. */
            readonly policy_id?: string;
            /** @description The number of its customers that are affected. */
            readonly customers?: number;
        };
        readonly Error: {
            /** @constant */
            readonly success: false;
            readonly error: {
                /** @enum {string} */
                readonly code: "MALFORMED_JSON" | "INVALID_PARAMETER" | "INVALID_STATE" | "MALFORMED_REQUEST" | "REQUEST_TIMEOUT" | "HEADERS_TOO_LARGE" | "UNAUTHORIZED" | "API_KEY_EXPIRED" | "API_KEY_ROLLED" | "API_KEY_REVOKED" | "WRONG_ENVIRONMENT" | "INVALID_CREDENTIALS" | "INVALID_LINK" | "INVALID_CODE" | "INVALID_REFRESH_TOKEN" | "SESSION_ENDED" | "INSUFFICIENT_SCOPE" | "INSUFFICIENT_ROLE" | "CUSTOMER_KEY_NOT_ALLOWED" | "ADDRESS_NOT_ALLOWED" | "CSRF_TOKEN_INVALID" | "CUSTOMER_SUSPENDED" | "USER_SUSPENDED" | "POLICY_VIOLATED" | "NOT_FOUND" | "INVALID_CUSTOMER" | "POLICY_NOT_FOUND" | "BULK_ASSIGNMENT_NOT_FOUND" | "POLICY_SET_NOT_FOUND" | "ROLLOUT_NOT_FOUND" | "USER_NOT_FOUND" | "SESSION_NOT_FOUND" | "WEBHOOK_NOT_FOUND" | "DELIVERY_NOT_FOUND" | "API_KEY_NOT_FOUND" | "CLIENT_NOT_FOUND" | "DASHBOARD_USER_NOT_FOUND" | "ERASURE_NOT_FOUND" | "PERSON_NOT_FOUND" | "IDP_NOT_CONFIGURED" | "METHOD_NOT_ALLOWED" | "NOT_ACCEPTABLE" | "CONFLICT" | "DUPLICATE" | "INVALID_TRANSITION" | "VERSION_IMMUTABLE" | "IDEMPOTENCY_CONFLICT" | "PRECONDITION_FAILED" | "CURSOR_EXPIRED" | "PAYLOAD_TOO_LARGE" | "UNSUPPORTED_MEDIA_TYPE" | "VALIDATION_FAILED" | "IDEMPOTENCY_KEY_REUSED" | "RETURN_URL_NOT_ALLOWED" | "IDP_UNREACHABLE" | "TARGET_NOT_ALLOWED" | "POLICY_SET_INVALID" | "POLICY_SET_NOT_ACTIVE" | "RATE_LIMIT_EXCEEDED" | "INTERNAL_ERROR" | "IDP_FAILED" | "SERVICE_UNAVAILABLE";
                readonly message: string;
                readonly details: Record<string, never>;
            };
            readonly meta: components["schemas"]["Meta"];
        };
        readonly SignInRequest: {
            readonly customer_id: string;
            readonly return_url: string;
            readonly scopes?: readonly string[];
            readonly login_hint?: string;
            /** @description Classes of authentication, in order of preference, as in the `acr_values` of a challenge. Where a policy requires several factors, only classes that satisfy it are requested. */
            readonly acr_values?: string;
            /** @enum {string} */
            readonly prompt?: "none" | "login" | "consent" | "select_account";
            /** @description maximum time since the user authenticated, in seconds; a stricter policy takes precedence */
            readonly max_age?: number;
        };
        readonly StartedSignIn: {
            /** Format: uri */
            readonly authorization_url: string;
            readonly state: string;
            readonly expires_in: number;
        };
        readonly StartedSignInResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["StartedSignIn"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly CodeExchange: {
            /** @constant */
            readonly grant_type?: "authorization_code";
            readonly code: string;
            readonly customer_id?: string;
            readonly state?: string;
            readonly return_url?: string;
        };
        readonly Tokens: {
            readonly access_token: string;
            /** @constant */
            readonly token_type: "Bearer";
            readonly expires_in: number;
            readonly refresh_token: string;
            readonly refresh_expires_in: number;
            readonly scope: string;
            /** @description for scope `openid`: the ID token, also the hint for `/oauth2/logout` */
            readonly id_token?: string;
            readonly user: components["schemas"]["SignedInUser"];
            readonly session: components["schemas"]["TokenSession"];
        };
        /** @description the user with all attributes; `null` if there is none */
        readonly SignedInUser: {
            readonly id: string;
            readonly email: string | null;
            readonly name: string | null;
            readonly customer_id: string;
            readonly role: unknown;
            readonly department: unknown;
            readonly permissions: unknown;
        } & {
            readonly [key: string]: unknown;
        };
        readonly TokenSession: {
            readonly id: string;
            readonly customer_id: string;
            readonly user_id: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly expires_at: string;
            readonly auth_time: string | null;
            readonly amr: readonly string[];
            readonly acr: string | null;
            readonly ip_address: string;
            readonly user_agent: string;
        };
        readonly TokensResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Tokens"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly TokenRefresh: {
            /** @constant */
            readonly grant_type?: "refresh_token";
            readonly refresh_token: string;
        };
        readonly LogoutRequest: {
            readonly session_id?: string;
            readonly user_id?: string;
            readonly customer_id?: string;
            readonly post_logout_return_url?: string;
            readonly state?: string;
            readonly refresh_token?: string;
        };
        readonly Logout: {
            /** @description the number of sessions that this request ended */
            readonly ended: number;
            /** @description where to send the browser to also end its session at the identity provider */
            readonly end_session_url?: string;
        };
        readonly LogoutResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Logout"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly IdpTestRequest: {
            /** @description An ID token of the provider, to try the claim mapping on. Its signature is not checked. */
            readonly token?: string;
        };
        readonly IdpTest: {
            readonly steps: readonly {
                /** @enum {string} */
                readonly step: "discovery" | "issuer" | "endpoints" | "code_flow" | "pkce" | "signing_keys" | "client";
                /** @enum {string} */
                readonly status: "passed" | "failed" | "skipped";
                /** @description A code, of a failed step. */
                readonly reason: string | null;
            }[];
            readonly identity: {
                readonly subject: string;
                readonly email: string | null;
                readonly name: string | null;
                readonly amr: readonly string[];
                readonly acr: string | null;
                /** @description What access tokens would contain. */
                readonly attributes: {
                    readonly [key: string]: unknown;
                };
                /** @description What the customer's lists, such as `allowed_roles`, do not permit. */
                readonly not_permitted: readonly components["schemas"]["DroppedClaim"][];
                /** @description Mapped claims of a form or size that is not accepted. */
                readonly unusable: readonly string[];
            } | null;
        };
        readonly DroppedClaim: {
            readonly claim: string;
            /** @description the first 20, shortened */
            readonly values: readonly string[];
            /** @description the total number */
            readonly count: number;
            /** @description in words */
            readonly reason: string;
        };
        readonly IdpTestResponseWithWarnings: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["IdpTest"];
            readonly warnings?: readonly components["schemas"]["Warning"][];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly Session: {
            readonly id: string;
            readonly customer_id: string;
            readonly user_id: string;
            /** @description the application that started the sign-in: the family of its API key */
            readonly client_id: string;
            /** @enum {string} */
            readonly status: "active" | "expired" | "ended";
            readonly scope: string;
            /** @description when the user authenticated, according to the provider; or the time of the sign-in, if the provider's metadata show that it never reports it and it was asked to authenticate again (`prompt=login`); `null` if unknown */
            readonly auth_time: string | null;
            /** @description authentication methods (RFC 8176) */
            readonly amr: readonly string[];
            /** @description authentication context class, if the provider reports it */
            readonly acr: string | null;
            readonly ip_address: string;
            readonly user_agent: string;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly last_used_at: string;
            /** Format: date-time */
            readonly expires_at: string;
            readonly ended_at: string | null;
            readonly end_reason: ("logout" | "revoked" | "user_suspended" | "user_deleted" | "customer_suspended" | "customer_archived" | "customer_deleted" | "refresh_reuse" | "code_reuse" | "session_too_old" | "session_limit") | null;
        };
        readonly SessionPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["Session"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly SessionResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Session"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly Customer: {
            readonly id: string;
            readonly external_id: string | null;
            readonly name: string;
            /** @enum {string} */
            readonly status: "active" | "suspended" | "archived";
            readonly allowed_return_urls: readonly string[];
            readonly metadata: {
                readonly [key: string]: unknown;
            };
            readonly allowed_roles: readonly string[] | null;
            readonly allowed_permissions: readonly string[] | null;
            readonly allowed_groups: readonly string[] | null;
            readonly allowed_claims: readonly string[] | null;
            readonly role_mapping: {
                readonly [key: string]: readonly string[];
            };
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly CustomerPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["Customer"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly NewCustomer: {
            readonly name: string;
            /** @default null */
            readonly external_id?: string | null;
            /**
             * @default active
             * @enum {string}
             */
            readonly status?: "active" | "suspended";
            /**
             * @description Where users may be sent back to after sign-in.
             * @default []
             */
            readonly allowed_return_urls?: readonly string[];
            readonly metadata?: {
                readonly [key: string]: string | number | boolean | null;
            };
            /**
             * @description Values of `role` and `roles` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority.
             * @default null
             */
            readonly allowed_roles?: readonly string[] | null;
            /**
             * @description Entries of `permissions` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority.
             * @default null
             */
            readonly allowed_permissions?: readonly string[] | null;
            /**
             * @description Entries of `groups` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority.
             * @default null
             */
            readonly allowed_groups?: readonly string[] | null;
            /**
             * @description Names of further attributes, such as `department`, that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority.
             * @default null
             */
            readonly allowed_claims?: readonly ("*" | string)[] | null;
            /** @description Maps groups of the customer's identity provider to roles that their members have here. Neither needs to be in the lists above: the mapping defines the roles, and the customer decides who is in a group. */
            readonly role_mapping?: {
                readonly [key: string]: readonly string[];
            };
            /**
             * @description Policies to assign, besides those with `assign_to_new_customers`.
             * @default []
             */
            readonly policy_ids?: readonly string[];
        };
        readonly CustomerResponseWithWarnings: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Customer"];
            readonly warnings?: readonly components["schemas"]["Warning"][];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly CustomerResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Customer"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly CustomerUpdate: {
            readonly name?: string;
            readonly external_id?: string | null;
            /** @description Where users may be sent back to after sign-in. */
            readonly allowed_return_urls?: readonly string[];
            readonly metadata?: {
                readonly [key: string]: string | number | boolean | null;
            };
            /** @description Values of `role` and `roles` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
            readonly allowed_roles?: readonly string[] | null;
            /** @description Entries of `permissions` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
            readonly allowed_permissions?: readonly string[] | null;
            /** @description Entries of `groups` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
            readonly allowed_groups?: readonly string[] | null;
            /** @description Names of further attributes, such as `department`, that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
            readonly allowed_claims?: readonly ("*" | string)[] | null;
            /** @description Maps groups of the customer's identity provider to roles that their members have here. Neither needs to be in the lists above: the mapping defines the roles, and the customer decides who is in a group. */
            readonly role_mapping?: {
                readonly [key: string]: readonly string[];
            };
            /** @enum {string} */
            readonly status?: "active" | "suspended" | "archived";
        };
        readonly CustomerPatch: {
            readonly name?: string;
            readonly external_id?: string | null;
            /** @description Where users may be sent back to after sign-in. */
            readonly allowed_return_urls?: readonly string[];
            /** @description Merged with the current value (RFC 7396): other members stay, and `null` removes one. */
            readonly metadata?: {
                readonly [key: string]: unknown;
            };
            /** @description Values of `role` and `roles` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
            readonly allowed_roles?: readonly string[] | null;
            /** @description Entries of `permissions` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
            readonly allowed_permissions?: readonly string[] | null;
            /** @description Entries of `groups` that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
            readonly allowed_groups?: readonly string[] | null;
            /** @description Names of further attributes, such as `department`, that are accepted from the customer's identity provider; all others are dropped. `null`: none (from the sandbox's own provider: any). `["*"]`: any, on the customer's own authority. */
            readonly allowed_claims?: readonly ("*" | string)[] | null;
            /** @description Merged with the current value (RFC 7396): other members stay, and `null` removes one. */
            readonly role_mapping?: {
                readonly [key: string]: unknown;
            };
            /** @enum {string} */
            readonly status?: "active" | "suspended" | "archived";
        };
        readonly DeletedCustomer: {
            readonly id: string;
            /** @constant */
            readonly deleted: true;
        };
        readonly DeletedCustomerResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["DeletedCustomer"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly IdentityProvider: {
            readonly customer_id: string;
            /** @enum {string} */
            readonly type: "oidc" | "okta" | "auth0" | "entra" | "google" | "keycloak";
            readonly domain: string;
            readonly issuer: string;
            readonly tenant: string | null;
            readonly realm: string | null;
            readonly client_id: string;
            /** @constant */
            readonly client_secret_set: true;
            readonly scopes: readonly string[];
            readonly claims: {
                readonly [key: string]: string;
            };
            /** @description The values in effect. */
            readonly mfa_acr_values: readonly string[];
            readonly verified_at: string | null;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly IdentityProviderResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["IdentityProvider"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly NewIdentityProvider: {
            /** @enum {string} */
            readonly type: "oidc" | "okta" | "auth0" | "entra" | "google" | "keycloak";
            /** @description The provider's host, such as `acme.okta.com`, with the port if it is not 443. */
            readonly domain: string;
            readonly client_id: string;
            /** @description Stored encrypted and never returned. */
            readonly client_secret: string;
            /**
             * @description Scopes to request from the provider; `openid` is always included. Users' tokens contain at most `openid`, `profile`, `email` and `groups` of them.
             * @default [
             *       "openid",
             *       "profile",
             *       "email"
             *     ]
             */
            readonly scopes?: readonly string[];
            /** @description For a provider at `domain` whose issuer differs from the usual one of its type: `https://acme.okta.com/oauth2/default`. */
            readonly issuer?: string;
            /**
             * Format: uuid
             * @description For type `entra`: the directory's id. If omitted, it is discovered from `domain`.
             */
            readonly tenant?: string;
            /** @description For type `keycloak`, unless `issuer` is given. */
            readonly realm?: string;
            /** @description Maps our attribute names to the provider's claims, such as `role` to `app.role`. Names of claims that access tokens set themselves, such as `scope` and `sid`, are refused. The provider's values for the others count only as far as the customer's `allowed_roles`, `allowed_claims` and other lists permit. */
            readonly claims?: {
                readonly [key: string]: string;
            };
            /** @description Values of the claim `acr` with which this provider confirms several factors. In addition to `amr`, they satisfy `mfa_required`, and they are requested. Default: the documented values for Okta and Auth0; none for other types. */
            readonly mfa_acr_values?: readonly string[];
            /**
             * @description Whether to verify the configuration against the provider's discovery document before it is stored. Ignored in the sandbox.
             * @default true
             */
            readonly verify?: boolean;
        };
        readonly IdentityProviderResponseWithWarnings: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["IdentityProvider"];
            readonly warnings?: readonly components["schemas"]["Warning"][];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly DeletedIdentityProvider: {
            readonly customer_id: string;
            /** @constant */
            readonly deleted: true;
        };
        readonly DeletedIdentityProviderResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["DeletedIdentityProvider"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly User: {
            readonly id: string;
            readonly customer_id: string;
            /** @description the identity provider; null until the first sign-in */
            readonly issuer: string | null;
            readonly subject: string;
            readonly email: string | null;
            readonly name: string | null;
            /** @enum {string} */
            readonly status: "active" | "suspended";
            /** @description the identity provider's claims about the user, as far as they are accepted */
            readonly profile: {
                readonly [key: string]: unknown;
            };
            /** @description claims of the last sign-in that the customer's current lists do not accept */
            readonly dropped_claims: readonly components["schemas"]["DroppedClaim"][];
            /** @description set by administrators; they override the profile and need no list */
            readonly attributes: {
                readonly [key: string]: unknown;
            };
            /** @description what conditions read as `user` and tokens contain */
            readonly effective_attributes: {
                readonly [key: string]: unknown;
            };
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
            readonly last_sign_in_at: string | null;
        };
        readonly UserPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["User"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly NewUser: {
            /** @description the user's `sub` at the customer's identity provider */
            readonly subject: string;
            /** Format: email */
            readonly email?: string;
            readonly name?: string;
            readonly attributes?: {
                readonly [key: string]: string | number | boolean | readonly string[];
            };
        };
        readonly UserResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["User"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly UserUpdate: {
            /** @enum {string} */
            readonly status?: "active" | "suspended";
            /** @description replaces all attributes that were set before */
            readonly attributes?: {
                readonly [key: string]: string | number | boolean | readonly string[];
            };
        };
        readonly UserPatch: {
            /** @enum {string} */
            readonly status?: "active" | "suspended";
            /** @description Merged with the current value (RFC 7396): other members stay, and `null` removes one. */
            readonly attributes?: {
                readonly [key: string]: unknown;
            };
        };
        readonly DeletedUser: {
            readonly id: string;
            /** @constant */
            readonly deleted: true;
        };
        readonly DeletedUserResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["DeletedUser"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly UserExport: {
            /** Format: date-time */
            readonly exported_at: string;
            readonly user: {
                readonly id: string;
                readonly customer_id: string;
                /** @description the identity provider; null until the first sign-in */
                readonly issuer: string | null;
                readonly subject: string;
                readonly email: string | null;
                readonly name: string | null;
                /** @enum {string} */
                readonly status: "active" | "suspended";
                /** @description the identity provider's claims about the user, as far as they are accepted */
                readonly profile: {
                    readonly [key: string]: unknown;
                };
                /** @description claims of the last sign-in that the customer's current lists do not accept */
                readonly dropped_claims: readonly components["schemas"]["DroppedClaim"][];
                /** @description set by administrators; they override the profile and need no list */
                readonly attributes: {
                    readonly [key: string]: unknown;
                };
                /** @description what conditions read as `user` and tokens contain */
                readonly effective_attributes: {
                    readonly [key: string]: unknown;
                };
                /** Format: date-time */
                readonly created_at: string;
                /** Format: date-time */
                readonly updated_at: string;
                readonly last_sign_in_at: string | null;
                /** @description All claims of the identity provider at `claimed_at`; `null` if they are those in `profile`. */
                readonly claimed: {
                    readonly [key: string]: unknown;
                } | null;
                /** @description If it differs from `last_sign_in_at`, `profile` has all claims of the last sign-in. */
                readonly claimed_at: string | null;
            };
            readonly activity: {
                readonly requests: number;
                readonly denied: number;
                readonly sign_ins: number;
                /** Format: date-time */
                readonly first_seen_at: string;
                /** Format: date-time */
                readonly last_seen_at: string;
            } | null;
            readonly sessions: readonly components["schemas"]["Session"][];
            readonly events: readonly components["schemas"]["Event"][];
            /** @description sign-ins refused before the user existed, found by the `sub` of the identity provider */
            readonly refusals: readonly components["schemas"]["Event"][];
            /** @description decisions on the user's requests, and their outcomes; without `trace` and `detail`, which may contain data about others, and with the e-mail addresses of others as `***` */
            readonly decisions: readonly components["schemas"]["AuditRecord"][];
            /** @description changes to the user and to their sessions; the person or key that made a change is identified only by id */
            readonly changes: readonly components["schemas"]["AuditRecord"][];
        };
        readonly Event: {
            readonly id: string;
            /** @enum {string} */
            readonly type: "user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered";
            /** Format: date-time */
            readonly timestamp: string;
            readonly customer_id: string | null;
            readonly user_id: string | null;
            readonly data: {
                readonly [key: string]: unknown;
            };
        };
        readonly AuditRecord: components["schemas"]["DecisionRecord"] | components["schemas"]["OutcomeRecord"] | components["schemas"]["ChangeRecord"] | components["schemas"]["ShadowRecord"] | components["schemas"]["RolloutRecord"] | components["schemas"]["RefusedCallRecord"];
        readonly DecisionRecord: {
            /** @constant */
            readonly kind: "decision";
            /** Format: date-time */
            readonly timestamp: string;
            readonly customer_id?: string;
            readonly user_id: string;
            /** @description The API key that sent the record. */
            readonly ingested_by?: string;
            /** @description The gateway's name for itself. */
            readonly gateway?: string;
            /** Format: date-time */
            readonly received_at?: string;
            readonly decision_id: string;
            readonly request_id: string;
            readonly resource: string;
            readonly action: string;
            /** @enum {string} */
            readonly decision: "ALLOW" | "DENY";
            readonly reason: string;
            readonly rule: string | null;
            readonly policy_set: string;
            readonly client_ip: string;
            readonly evaluation_time_us: number;
        } & {
            readonly [key: string]: unknown;
        };
        readonly OutcomeRecord: {
            /** @constant */
            readonly kind: "outcome";
            /** Format: date-time */
            readonly timestamp: string;
            readonly customer_id?: string;
            readonly user_id: string;
            /** @description The API key that sent the record. */
            readonly ingested_by?: string;
            /** @description The gateway's name for itself. */
            readonly gateway?: string;
            /** Format: date-time */
            readonly received_at?: string;
            /** @enum {string} */
            readonly event: "response" | "connection";
            /** @description Empty if only `request_id` identifies the decision. */
            readonly decision_id: string;
            readonly request_id?: string;
        } & {
            readonly [key: string]: unknown;
        };
        readonly ChangeRecord: {
            /** @constant */
            readonly kind: "change";
            readonly id: string;
            /** Format: date-time */
            readonly timestamp: string;
            readonly customer_id?: string;
            readonly user_id: string;
            readonly request_id: string;
            readonly action: string;
            readonly actor: components["schemas"]["ActorReference"];
            readonly target: {
                readonly type: string;
                readonly id: string;
            };
            readonly before?: {
                readonly [key: string]: unknown;
            };
            readonly after?: {
                readonly [key: string]: unknown;
            };
            readonly client_ip: string;
        };
        readonly ActorReference: {
            readonly kind: string;
            readonly id: string;
            readonly name?: string;
        };
        readonly ShadowRecord: {
            /** @constant */
            readonly kind: "shadow";
            readonly id: string;
            /** Format: date-time */
            readonly timestamp: string;
            readonly customer_id?: string;
            readonly user_id: string;
            /** @description The API key that sent the record. */
            readonly ingested_by?: string;
            /** @description The gateway's name for itself. */
            readonly gateway?: string;
            /** Format: date-time */
            readonly received_at?: string;
            readonly request_id: string;
            readonly resource: string;
            readonly action: string;
            /**
             * @description What the candidate would do.
             * @enum {string}
             */
            readonly difference: "denies" | "allows" | "plan";
            readonly rule: string | null;
            readonly policy_set: string;
            /** @enum {string} */
            readonly candidate_decision: "ALLOW" | "DENY";
        } & {
            readonly [key: string]: unknown;
        };
        readonly RolloutRecord: {
            /** @constant */
            readonly kind: "rollout";
            readonly decision_id: string;
            /** Format: date-time */
            readonly timestamp: string;
            /** @description The API key that sent the record. */
            readonly ingested_by?: string;
            /** @description The gateway's name for itself. */
            readonly gateway?: string;
            /** Format: date-time */
            readonly received_at?: string;
            readonly change: string;
            readonly policy_set: string;
        } & {
            readonly [key: string]: unknown;
        };
        readonly RefusedCallRecord: {
            /** @constant */
            readonly kind: "refused_call";
            readonly id: string;
            /** Format: date-time */
            readonly timestamp: string;
            readonly customer_id?: string;
            readonly user_id: string;
            readonly request_id: string;
            /** @description `id` is empty if it is not known who called. */
            readonly actor: {
                readonly kind: string;
                readonly id: string;
            };
            /** @description As in this document; `oauth` or `other` outside of it. */
            readonly operation: string;
            readonly method: string;
            /** @description With those parameters that are ids; empty outside of this document. */
            readonly path: string;
            readonly status: number;
            readonly code: string;
            readonly client_ip: string;
            /** @description Number of refused calls that the record stands for, if the caller had too many for a record each; the last of them is described. */
            readonly calls?: number;
        };
        readonly UserExportResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["UserExport"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly Erasure: {
            /** @description id of the deleted user, customer or dashboard user */
            readonly id: string;
            /** @enum {string} */
            readonly kind: "user" | "customer" | "dashboard_user";
            readonly customer_id: string | null;
            /** @enum {string} */
            readonly status: "running" | "finished";
            /** Format: date-time */
            readonly requested_at: string;
            readonly finished_at: string | null;
            /** @description rows processed so far; records are those of the audit trail */
            readonly progress: {
                readonly users: number;
                readonly sessions: number;
                readonly events: number;
                readonly records: number;
            };
            /** @description why it is not progressing; `null` if the last attempt succeeded */
            readonly failure: {
                /**
                 * @description the step that failed
                 * @enum {string}
                 */
                readonly step: "users" | "sessions" | "events" | "refusals" | "deliveries" | "records" | "changes" | "user_events" | "user_deliveries" | "user_records" | "acts" | "membership" | "keys";
                readonly message: string;
                /** @description consecutive failures */
                readonly attempts: number;
                /** Format: date-time */
                readonly next_attempt_at: string;
            } | null;
        };
        readonly ErasurePage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["Erasure"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly ErasureResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Erasure"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly Policy: {
            readonly id: string;
            readonly name: string;
            readonly description: string;
            /** @enum {string} */
            readonly type: "authentication" | "authorization";
            /** @enum {string} */
            readonly status: "active" | "inactive";
            readonly conditions: {
                readonly [key: string]: unknown;
            };
            readonly assign_to_new_customers: boolean;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly PolicyPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["Policy"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly NewPolicy: components["schemas"]["NewAuthenticationPolicy"] | components["schemas"]["NewAuthorizationPolicy"];
        readonly NewAuthenticationPolicy: {
            readonly name: string;
            /** @default  */
            readonly description?: string;
            /**
             * @description An inactive policy stays assigned but is not enforced.
             * @default active
             * @enum {string}
             */
            readonly status?: "active" | "inactive";
            /**
             * @description Whether it is assigned to each customer that is created from now on; at most 20 policies are.
             * @default false
             */
            readonly assign_to_new_customers?: boolean;
            /** @constant */
            readonly type: "authentication";
            readonly conditions: components["schemas"]["AuthenticationConditions"];
        };
        readonly AuthenticationConditions: {
            readonly mfa_required?: boolean;
            /** @description Maximum time since the user authenticated, in seconds. */
            readonly max_session_duration?: number;
            readonly allowed_email_domains?: readonly string[];
            /** @description Addresses, or networks in CIDR notation, that the user's browser must have. */
            readonly allowed_ip_ranges?: readonly string[];
        };
        readonly NewAuthorizationPolicy: {
            readonly name: string;
            /** @default  */
            readonly description?: string;
            /**
             * @description An inactive policy stays assigned but is not enforced.
             * @default active
             * @enum {string}
             */
            readonly status?: "active" | "inactive";
            /**
             * @description Whether it is assigned to each customer that is created from now on; at most 20 policies are.
             * @default false
             */
            readonly assign_to_new_customers?: boolean;
            /** @constant */
            readonly type: "authorization";
            readonly conditions: components["schemas"]["AuthorizationConditions"];
        };
        readonly AuthorizationConditions: {
            /** @description The name of a published policy set that must also permit the request. */
            readonly policy_set: string;
        };
        readonly PolicyResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Policy"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly PolicyUpdate: {
            readonly name?: string;
            readonly description?: string;
            /** @description Whether it is assigned to each customer that is created from now on; at most 20 policies are. */
            readonly assign_to_new_customers?: boolean;
            /**
             * @description An inactive policy stays assigned but is not enforced.
             * @enum {string}
             */
            readonly status?: "active" | "inactive";
            /**
             * @description Cannot change.
             * @enum {string}
             */
            readonly type?: "authentication" | "authorization";
            /** @description Replaced as a whole; must match the policy's type, see the body of POST /policies. */
            readonly conditions?: {
                readonly [key: string]: unknown;
            };
        };
        readonly PolicyResponseWithWarnings: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Policy"];
            readonly warnings?: readonly components["schemas"]["Warning"][];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly PolicyPatch: {
            readonly name?: string;
            readonly description?: string;
            /** @description Whether it is assigned to each customer that is created from now on; at most 20 policies are. */
            readonly assign_to_new_customers?: boolean;
            /**
             * @description An inactive policy stays assigned but is not enforced.
             * @enum {string}
             */
            readonly status?: "active" | "inactive";
            /**
             * @description Cannot change.
             * @enum {string}
             */
            readonly type?: "authentication" | "authorization";
            /** @description Merged with the current value (RFC 7396): other members stay, and `null` removes one. */
            readonly conditions?: {
                readonly [key: string]: unknown;
            };
        };
        readonly DeletedPolicy: {
            readonly id: string;
            /** @constant */
            readonly deleted: true;
        };
        readonly DeletedPolicyResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["DeletedPolicy"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly AssignedPolicy: {
            readonly id: string;
            readonly name: string;
            readonly description: string;
            /** @enum {string} */
            readonly type: "authentication" | "authorization";
            /** @enum {string} */
            readonly status: "active" | "inactive";
            readonly conditions: {
                readonly [key: string]: unknown;
            };
            readonly assign_to_new_customers: boolean;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
            /** Format: date-time */
            readonly assigned_at: string;
        };
        readonly AssignedPolicyPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["AssignedPolicy"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly PolicyAssignment: {
            readonly policy_ids: readonly string[];
        };
        readonly AssignedPolicyListWithWarnings: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["AssignedPolicy"][];
            readonly warnings?: readonly components["schemas"]["Warning"][];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly PolicyUnassignment: {
            readonly customer_id: string;
            readonly policy_id: string;
            /** @constant */
            readonly assigned: false;
        };
        readonly PolicyUnassignmentResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["PolicyUnassignment"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly PolicyImpact: {
            /** @description open sessions that were examined, newest first */
            readonly sessions: number;
            /** @description false if the customer has more open sessions */
            readonly complete: boolean;
            /** @description sessions whose requests gateways would refuse; null for an authorization policy, whose set decides on each request */
            readonly refused: number | null;
            /** @description users of the refused sessions */
            readonly users: number;
            readonly requirements: readonly {
                /** @enum {string} */
                readonly requirement: "MFA_REQUIRED" | "SESSION_TOO_OLD" | "EMAIL_DOMAIN_NOT_ALLOWED" | "CLIENT_ADDRESS_NOT_ALLOWED";
                readonly sessions: number;
            }[];
            /** @description the newest refused sessions */
            readonly examples: readonly {
                readonly session_id: string;
                readonly user_id: string;
                readonly email: string | null;
                /** @enum {string} */
                readonly requirement: "MFA_REQUIRED" | "SESSION_TOO_OLD" | "EMAIL_DOMAIN_NOT_ALLOWED" | "CLIENT_ADDRESS_NOT_ALLOWED";
            }[];
        };
        readonly PolicyImpactResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["PolicyImpact"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly PolicyAssignee: {
            readonly id: string;
            readonly name: string;
            readonly status: string;
            /** Format: date-time */
            readonly assigned_at: string;
        };
        readonly PolicyAssigneePage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["PolicyAssignee"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly NewBulkAssignment: {
            /**
             * @description `preview` changes nothing, and counts what `assign` would do.
             * @enum {string}
             */
            readonly action: "assign" | "unassign" | "preview";
            readonly customers: components["schemas"]["CustomerSelection"];
        };
        /** @description `ids`, `status` or `all`; customers that are created after the request are not among them. Those of a `status` have it when it is their turn. */
        readonly CustomerSelection: {
            readonly ids: readonly string[];
        } | {
            /** @enum {string} */
            readonly status: "active" | "suspended" | "archived";
        } | {
            /** @constant */
            readonly all: true;
        };
        readonly BulkAssignment: {
            readonly id: string;
            readonly policy_id: string;
            /** @enum {string} */
            readonly action: "assign" | "unassign" | "preview";
            readonly customers: {
                /** @description how many were named */
                readonly ids: number;
            } | {
                readonly status: string;
            } | {
                /** @constant */
                readonly all: true;
            };
            /** @enum {string} */
            readonly status: "running" | "finished" | "cancelled" | "failed";
            /** @description why it failed as a whole; what was done until then stays */
            readonly problem: string | null;
            readonly requested_by: components["schemas"]["ActorReference"];
            /** Format: date-time */
            readonly requested_at: string;
            readonly ended_at: string | null;
            readonly progress: {
                /** @description customers that were selected */
                readonly total: number;
                /** @description customers that were looked at */
                readonly done: number;
                /** @description customers that got or lost the policy; for a preview: that would get it */
                readonly changed: number;
                readonly failed: number;
            };
            /** @description the first 100 customers that it failed for */
            readonly failures: readonly {
                readonly customer_id: string;
                readonly code: string;
                readonly message: string;
            }[];
            /** @description of a preview: who would be locked out */
            readonly impact: {
                /** @description open sessions that were examined */
                readonly sessions: number;
                /** @description false if a customer has more open sessions than are examined */
                readonly complete: boolean;
                /** @description of these, refused by gateways; null for an authorization policy */
                readonly refused: number | null;
                /** @description customers with such sessions */
                readonly customers: number;
                /** @description the 100 customers with the most */
                readonly examples: readonly {
                    readonly customer_id: string;
                    readonly sessions: number;
                    readonly refused: number;
                    readonly requirements: readonly {
                        /** @enum {string} */
                        readonly requirement: "MFA_REQUIRED" | "SESSION_TOO_OLD" | "EMAIL_DOMAIN_NOT_ALLOWED" | "CLIENT_ADDRESS_NOT_ALLOWED";
                        readonly sessions: number;
                    }[];
                }[];
            } | null;
        };
        readonly BulkAssignmentResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["BulkAssignment"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly BulkAssignmentPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["BulkAssignment"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly PolicySet: {
            readonly name: string;
            /** @description what gateways enforce */
            readonly active_version: string | null;
            readonly active_digest: string | null;
            readonly activated_at: string | null;
            /** @description the version that a rollback activates */
            readonly previous_version: string | null;
            /** @description the number of published versions */
            readonly versions: number;
            /** @description the rollout that runs */
            readonly rollout: {
                readonly id: string;
                readonly version: string;
                /** @enum {string} */
                readonly mode: "shadow" | "enforce";
                /** @description of the callers for whom the candidate decides */
                readonly percentage: number;
            } | null;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly PolicySetPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["PolicySet"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly PolicySetToValidate: {
            readonly name?: string;
            readonly files: readonly components["schemas"]["PolicyFile"][];
        };
        readonly PolicyFile: {
            readonly name: string;
            readonly text: string;
        };
        readonly PolicySetValidation: {
            readonly valid: boolean;
            readonly name?: string;
            readonly version?: string;
            readonly digest?: string;
            readonly rules?: number;
            readonly diagnostics: readonly components["schemas"]["Diagnostic"][];
            /** @description the diagnostics as the command line prints them */
            readonly rendered: string;
        };
        readonly Diagnostic: {
            /** @enum {string} */
            readonly severity: "error" | "warning";
            readonly code: string;
            readonly message: string;
            readonly file: string;
            readonly line: number;
            readonly column: number;
            readonly length: number;
            readonly hint?: string;
        };
        readonly PolicySetValidationResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["PolicySetValidation"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly NewPolicySetVersion: {
            readonly name: string;
            readonly files: readonly components["schemas"]["PolicyFile"][];
            /** @default true */
            readonly activate?: boolean;
        };
        readonly PolicySetVersion: {
            readonly name: string;
            readonly version: string;
            /** @description sha256 of the set's meaning, without layout and comments */
            readonly digest: string;
            readonly rules: number;
            readonly active: boolean;
            /** @description warnings */
            readonly diagnostics: readonly components["schemas"]["Diagnostic"][];
            /** Format: date-time */
            readonly published_at: string;
            readonly published_by: components["schemas"]["ActorReference"];
        };
        readonly PolicySetVersionResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["PolicySetVersion"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly PolicySetResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["PolicySet"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly PolicySetVersionPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["PolicySetVersion"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly PolicySetVersionWithFiles: {
            readonly name: string;
            readonly version: string;
            /** @description sha256 of the set's meaning, without layout and comments */
            readonly digest: string;
            readonly rules: number;
            readonly active: boolean;
            /** @description warnings */
            readonly diagnostics: readonly components["schemas"]["Diagnostic"][];
            /** Format: date-time */
            readonly published_at: string;
            readonly published_by: components["schemas"]["ActorReference"];
            readonly files: readonly {
                readonly name: string;
                readonly text: string;
            }[];
        };
        readonly PolicySetVersionWithFilesResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["PolicySetVersionWithFiles"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly PolicySetActivation: {
            readonly version: string;
        };
        readonly RolloutProgress: {
            readonly id: string;
            readonly policy_set: string;
            /** @enum {string} */
            readonly state: "running" | "promoted" | "aborted";
            /** @description counts the changes of its terms */
            readonly revision: number;
            /** @description what was active when it began */
            readonly stable: components["schemas"]["RolloutVersion"];
            readonly candidate: components["schemas"]["RolloutVersion"];
            /** @enum {string} */
            readonly mode: "shadow" | "enforce";
            /** @description in effect: 0 in shadow mode, else that of the present step */
            readonly percentage: number;
            readonly steps: readonly number[];
            readonly step_pause_seconds: number;
            /** @enum {string} */
            readonly sticky_by: "user" | "customer" | "client_ip";
            readonly guard: {
                readonly window_seconds: number;
                readonly min_requests: number;
                readonly denial_increase: number;
                readonly error_increase: number;
                readonly slowdown: number;
                readonly ignored_callers: number;
            } | null;
            /** Format: date-time */
            readonly started_at: string;
            readonly started_by: components["schemas"]["ActorReference"];
            /**
             * Format: date-time
             * @description when its present terms took effect
             */
            readonly changed_at: string;
            readonly ended_at: string | null;
            readonly ended_by: components["schemas"]["ActorReference"] | null;
            /** @description why it was aborted */
            readonly cause: ("operator" | "denials" | "errors" | "slow") | null;
            readonly detail: string | null;
            /** @description what the guard sees now; null in shadow mode, without a guard, and after the end */
            readonly comparison: {
                /** @enum {string} */
                readonly outcome: "ok" | "inconclusive" | "worse";
                /** @enum {string} */
                readonly cause?: "denials" | "errors" | "slow";
                readonly detail?: string;
            } | null;
            /** @description decisions of all gateways within the guard's window */
            readonly window: components["schemas"]["RolloutArms"];
            /** @description decisions of all gateways since each of them has the candidate */
            readonly totals: components["schemas"]["RolloutArms"];
            readonly shadow: {
                readonly same: number;
                readonly different: number;
                readonly failed: number;
                readonly dropped: number;
                readonly rules: readonly {
                    /** @enum {string} */
                    readonly difference: "denies" | "allows" | "plan";
                    readonly rule: string;
                    readonly count: number;
                }[];
            };
            readonly gateways: readonly {
                readonly id: string;
                readonly key: string;
                /** @description the terms that it follows */
                readonly revision: number;
                /** Format: date-time */
                readonly last_seen_at: string;
                /** @description it has taken the candidate back by itself */
                readonly taken_back: {
                    /** @enum {string} */
                    readonly cause: "denials" | "errors" | "slow";
                    readonly detail: string;
                } | null;
            }[];
        };
        readonly RolloutVersion: {
            readonly version: string;
            readonly digest: string;
        };
        readonly RolloutArm: {
            readonly decisions: number;
            readonly denials: number;
            readonly errors: number;
            /** @description 99th percentile of the time of a decision */
            readonly p99_ms: number;
        };
        readonly RolloutArms: {
            readonly stable: components["schemas"]["RolloutArm"];
            readonly candidate: components["schemas"]["RolloutArm"];
        };
        readonly RolloutProgressResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["RolloutProgress"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly Rollout: {
            readonly id: string;
            readonly policy_set: string;
            /** @enum {string} */
            readonly state: "running" | "promoted" | "aborted";
            /** @description counts the changes of its terms */
            readonly revision: number;
            /** @description what was active when it began */
            readonly stable: components["schemas"]["RolloutVersion"];
            readonly candidate: components["schemas"]["RolloutVersion"];
            /** @enum {string} */
            readonly mode: "shadow" | "enforce";
            /** @description in effect: 0 in shadow mode, else that of the present step */
            readonly percentage: number;
            readonly steps: readonly number[];
            readonly step_pause_seconds: number;
            /** @enum {string} */
            readonly sticky_by: "user" | "customer" | "client_ip";
            readonly guard: {
                readonly window_seconds: number;
                readonly min_requests: number;
                readonly denial_increase: number;
                readonly error_increase: number;
                readonly slowdown: number;
                readonly ignored_callers: number;
            } | null;
            /** Format: date-time */
            readonly started_at: string;
            readonly started_by: components["schemas"]["ActorReference"];
            /**
             * Format: date-time
             * @description when its present terms took effect
             */
            readonly changed_at: string;
            readonly ended_at: string | null;
            readonly ended_by: components["schemas"]["ActorReference"] | null;
            /** @description why it was aborted */
            readonly cause: ("operator" | "denials" | "errors" | "slow") | null;
            readonly detail: string | null;
        };
        readonly RolloutPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["Rollout"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly NewRollout: {
            /** @description The candidate: a published version that is not active. */
            readonly version: string;
            /**
             * @default shadow
             * @enum {string}
             */
            readonly mode?: "shadow" | "enforce";
            /** @description The part of the callers for whom the candidate decides, in mode `enforce`. Default: 0. */
            readonly percentage?: number;
            /**
             * @description Percentages through which the candidate goes up by itself, instead of `percentage`.
             * @default []
             */
            readonly steps?: readonly number[];
            /**
             * @description Time at each step. The next one begins only after the guard could compare the versions.
             * @default 600
             */
            readonly step_pause_seconds?: number;
            /**
             * @default user
             * @enum {string}
             */
            readonly sticky_by?: "user" | "customer" | "client_ip";
            /** @description Takes a candidate back that does worse than the active version; null: nothing is compared. */
            readonly guard?: components["schemas"]["NewRolloutGuard"] | null;
        };
        readonly NewRolloutGuard: {
            /** @default 60 */
            readonly window_seconds?: number;
            /** @default 200 */
            readonly min_requests?: number;
            /** @default 0.05 */
            readonly denial_increase?: number;
            /** @default 0.01 */
            readonly error_increase?: number;
            /** @default 5 */
            readonly slowdown?: number;
            /**
             * @description What this many callers of each version do alone does not count: those who were denied most, or whose decisions took longest. With 0, every caller counts.
             * @default 5
             */
            readonly ignored_callers?: number;
        };
        readonly RolloutResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Rollout"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly RolloutAbort: {
            /** @description Why, for people. */
            readonly detail?: string;
        };
        readonly RolloutReport: {
            readonly gateway: string;
            readonly rollout: string;
            readonly revision: number;
            readonly samples: {
                readonly stable: {
                    readonly decisions: number;
                    readonly denials: number;
                    readonly errors: number;
                    readonly durations: readonly number[];
                    readonly heaviest: readonly {
                        readonly caller: string;
                        readonly decisions: number;
                        readonly denials: number;
                        readonly errors: number;
                        readonly slow: number;
                    }[];
                };
                readonly candidate: {
                    readonly decisions: number;
                    readonly denials: number;
                    readonly errors: number;
                    readonly durations: readonly number[];
                    readonly heaviest: readonly {
                        readonly caller: string;
                        readonly decisions: number;
                        readonly denials: number;
                        readonly errors: number;
                        readonly slow: number;
                    }[];
                };
            };
            readonly totals: {
                readonly stable: {
                    readonly decisions: number;
                    readonly denials: number;
                    readonly errors: number;
                    readonly durations: readonly number[];
                    readonly heaviest: readonly {
                        readonly caller: string;
                        readonly decisions: number;
                        readonly denials: number;
                        readonly errors: number;
                        readonly slow: number;
                    }[];
                };
                readonly candidate: {
                    readonly decisions: number;
                    readonly denials: number;
                    readonly errors: number;
                    readonly durations: readonly number[];
                    readonly heaviest: readonly {
                        readonly caller: string;
                        readonly decisions: number;
                        readonly denials: number;
                        readonly errors: number;
                        readonly slow: number;
                    }[];
                };
            };
            readonly shadow: {
                readonly same: number;
                readonly different: number;
                readonly failed: number;
                readonly dropped: number;
                readonly rules: readonly {
                    /** @enum {string} */
                    readonly difference: "denies" | "allows" | "plan";
                    readonly rule: string;
                    readonly count: number;
                }[];
            } | null;
            readonly taken_back: {
                /** @enum {string} */
                readonly cause: "denials" | "errors" | "slow";
                readonly detail: string;
            } | null;
        };
        readonly TakenRolloutReport: {
            readonly running: boolean;
            readonly report_after_ms: number;
        };
        readonly TakenRolloutReportResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["TakenRolloutReport"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly Analytics: {
            /** Format: date-time */
            readonly from: string;
            /** Format: date-time */
            readonly to: string;
            /** @enum {string} */
            readonly interval: "minute" | "hour" | "day";
            readonly customer_id: string | null;
            readonly requests: {
                readonly total: number;
                readonly allowed: number;
                readonly denied: number;
            };
            readonly by_reason: readonly {
                /** @enum {string} */
                readonly decision: "ALLOW" | "DENY";
                readonly reason: string;
                readonly requests: number;
            }[];
            readonly by_resource: {
                readonly top: readonly {
                    readonly resource: string | null;
                    readonly requests: number;
                    readonly denied: number;
                }[];
                readonly other: {
                    readonly requests: number;
                    readonly denied: number;
                };
            };
            /** @description null for a single customer. */
            readonly by_customer: {
                readonly top: readonly {
                    readonly customer_id: string | null;
                    readonly requests: number;
                    readonly denied: number;
                }[];
                readonly other: {
                    readonly requests: number;
                    readonly denied: number;
                };
            } | null;
            readonly over_time: readonly {
                /** Format: date-time */
                readonly start: string;
                readonly requests: number;
                readonly allowed: number;
                readonly denied: number;
                readonly sign_ins: number;
                readonly failures: number;
            }[];
            readonly sign_ins: {
                readonly succeeded: number;
                readonly failed: number;
                readonly signed_out: number;
            };
            readonly policy_violations: number;
            readonly users: {
                readonly active: number;
                readonly last_day: number;
                readonly last_week: number;
                readonly last_month: number;
            };
            readonly sessions: {
                readonly active: number;
            };
            /** @description Of decisions, at most 9 % too high; null for a single customer. */
            readonly latency: {
                readonly measured: number;
                readonly p50_ms: number | null;
                readonly p95_ms: number | null;
                readonly p99_ms: number | null;
            } | null;
            /** @description Of gateways; null for a single customer. */
            readonly caches: readonly {
                readonly name: string;
                readonly hits: number;
                readonly misses: number;
                readonly evictions: number;
                readonly hit_rate: number | null;
                readonly eviction_rate: number | null;
            }[] | null;
            /** @description As reported by gateways; null for a single customer. */
            readonly audit: {
                readonly decided: number;
                readonly recorded: number;
                readonly dropped: number;
            } | null;
        };
        readonly AnalyticsResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Analytics"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly EventPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["Event"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly EventFeed: {
            readonly events: readonly components["schemas"]["Event"][];
            /** @description The `after` of the next call. */
            readonly cursor: string;
            /** @description There may be more already: continue at once, even if `events` is empty. */
            readonly more: boolean;
            /** @description The time of the oldest event that cannot be shown yet, because a transaction that began before its own has not ended. */
            readonly waiting_since: string | null;
        };
        readonly EventFeedResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["EventFeed"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly UserActivity: {
            readonly user_id: string;
            readonly customer_id: string | null;
            readonly email: string | null;
            readonly name: string | null;
            readonly requests: number;
            readonly denied: number;
            readonly sign_ins: number;
            /** Format: date-time */
            readonly first_seen_at: string;
            /** Format: date-time */
            readonly last_seen_at: string;
            /** @description Of the last 30 days (UTC), today included. */
            readonly recent: {
                readonly requests: number;
                readonly denied: number;
                readonly sign_ins: number;
            };
        };
        readonly UserActivityPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["UserActivity"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly AuditRecordPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["AuditRecord"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly Webhook: {
            readonly id: string;
            readonly customer_id: string | null;
            readonly url: string;
            readonly description: string | null;
            readonly events: readonly ("user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered" | "*")[];
            readonly enabled: boolean;
            readonly disabled_reason: ("requested" | "failing" | "gone" | "customer_deleted") | null;
            readonly disabled_at: string | null;
            readonly previous_secret_expires_at: string | null;
            /** @description set if the receiver does not respond: nothing is sent until then, when one delivery is tried */
            readonly paused_until: string | null;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
        };
        readonly WebhookPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["Webhook"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly NewWebhook: {
            /** Format: uri */
            readonly url: string;
            /** @description event types, or `*` for all, alone or in the list */
            readonly events: ((readonly unknown[] | "*" | readonly ("user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered" | "*")[]) | (string | "*" | readonly ("user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered" | "*")[])) | "*" | readonly ("user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered" | "*")[];
            readonly secret?: string;
            /** @default null */
            readonly description?: string | null;
            /** @default null */
            readonly customer_id?: string | null;
            /** @default true */
            readonly enabled?: boolean;
        };
        readonly WebhookWithSecret: {
            readonly id: string;
            readonly customer_id: string | null;
            readonly url: string;
            readonly description: string | null;
            readonly events: readonly ("user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered" | "*")[];
            readonly enabled: boolean;
            readonly disabled_reason: ("requested" | "failing" | "gone" | "customer_deleted") | null;
            readonly disabled_at: string | null;
            readonly previous_secret_expires_at: string | null;
            /** @description set if the receiver does not respond: nothing is sent until then, when one delivery is tried */
            readonly paused_until: string | null;
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
            readonly secret: string;
        };
        readonly WebhookWithSecretResponseWithWarnings: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["WebhookWithSecret"];
            readonly warnings?: readonly components["schemas"]["Warning"][];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly WebhookResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Webhook"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly WebhookUpdate: {
            /** Format: uri */
            readonly url?: string;
            /** @description event types, or `*` for all, alone or in the list */
            readonly events?: ((readonly unknown[] | "*" | readonly ("user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered" | "*")[]) | (string | "*" | readonly ("user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered" | "*")[])) | "*" | readonly ("user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered" | "*")[];
            readonly description?: string | null;
            readonly enabled?: boolean;
        };
        readonly DeletedWebhook: {
            readonly id: string;
            /** @constant */
            readonly deleted: true;
        };
        readonly DeletedWebhookResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["DeletedWebhook"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly WebhookSecretRotation: {
            readonly secret?: string;
            /** @default 86400 */
            readonly overlap_seconds?: number;
        };
        readonly WebhookDelivery: {
            readonly id: string;
            readonly webhook_id: string;
            readonly event_id: string;
            /** @enum {string} */
            readonly event_type: "user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered" | "webhook.test";
            /** @enum {string} */
            readonly status: "pending" | "delivering" | "delivered" | "failed" | "cancelled";
            readonly attempts: number;
            /** Format: date-time */
            readonly created_at: string;
            readonly last_attempt_at: string | null;
            readonly next_attempt_at: string | null;
            readonly finished_at: string | null;
            readonly response_status: number | null;
            readonly response_body: string | null;
            readonly duration_ms: number | null;
            readonly error: string | null;
            readonly cancelled_reason: ("webhook_disabled" | "webhook_deleted" | "customer_deleted") | null;
        };
        readonly WebhookDeliveryPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["WebhookDelivery"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly WebhookDeliveryWithPayload: {
            readonly id: string;
            readonly webhook_id: string;
            readonly event_id: string;
            /** @enum {string} */
            readonly event_type: "user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered" | "webhook.test";
            /** @enum {string} */
            readonly status: "pending" | "delivering" | "delivered" | "failed" | "cancelled";
            readonly attempts: number;
            /** Format: date-time */
            readonly created_at: string;
            readonly last_attempt_at: string | null;
            readonly next_attempt_at: string | null;
            readonly finished_at: string | null;
            readonly response_status: number | null;
            readonly response_body: string | null;
            readonly duration_ms: number | null;
            readonly error: string | null;
            readonly cancelled_reason: ("webhook_disabled" | "webhook_deleted" | "customer_deleted") | null;
            readonly payload: {
                readonly id: string;
                /** @enum {string} */
                readonly type: "user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered" | "webhook.test";
                /** Format: date-time */
                readonly timestamp: string;
                readonly data: {
                    readonly [key: string]: unknown;
                };
            };
        };
        readonly WebhookDeliveryWithPayloadResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["WebhookDeliveryWithPayload"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly WebhookDeliveryResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["WebhookDelivery"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly ApiKey: {
            readonly id: string;
            readonly name: string;
            /** @enum {string} */
            readonly scope: "read_only" | "configuration" | "authentication" | "full_access" | "gateway" | "caller";
            /** @enum {string} */
            readonly environment: "production" | "sandbox";
            readonly customer_id: string | null;
            /** @description `user.permissions` of a caller. */
            readonly permissions: readonly string[];
            /** @description From where the key may be used; empty: from everywhere. */
            readonly allowed_addresses: readonly string[];
            /** @description The last four characters of the key. */
            readonly hint: string;
            /** @enum {string} */
            readonly status: "active" | "expired" | "revoked";
            readonly created_by: components["schemas"]["ActorReference"];
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
            readonly expires_at: string | null;
            /** @description Accurate to the minute. */
            readonly last_used_at: string | null;
            readonly revoked_at: string | null;
            /** @description The first key in the chain of rolled keys, or this one: the `client_id` of the tokens that it requests. */
            readonly family_id: string;
            /** @description The key that this one replaces. */
            readonly rolled_from: string | null;
            /** @description The key that replaces this one; this one is refused from `expires_at` on. */
            readonly rolled_to: string | null;
        };
        readonly ApiKeyPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["ApiKey"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly NewApiKey: {
            readonly name: string;
            /** @enum {string} */
            readonly scope: "read_only" | "configuration" | "authentication" | "full_access" | "gateway" | "caller";
            /** @description Limits the key to this customer. */
            readonly customer_id?: string;
            /** @description Only for the scope `caller`: `user.permissions` in conditions. */
            readonly permissions?: readonly string[];
            /** @description Addresses, or networks in CIDR notation, from which the key may be used; empty: from everywhere. Not for the scope `caller`. */
            readonly allowed_addresses?: readonly string[];
            /** Format: date-time */
            readonly expires_at?: string;
        };
        readonly CreatedApiKey: {
            readonly id: string;
            readonly name: string;
            /** @enum {string} */
            readonly scope: "read_only" | "configuration" | "authentication" | "full_access" | "gateway" | "caller";
            /** @enum {string} */
            readonly environment: "production" | "sandbox";
            readonly customer_id: string | null;
            /** @description `user.permissions` of a caller. */
            readonly permissions: readonly string[];
            /** @description From where the key may be used; empty: from everywhere. */
            readonly allowed_addresses: readonly string[];
            /** @description The last four characters of the key. */
            readonly hint: string;
            /** @enum {string} */
            readonly status: "active" | "expired" | "revoked";
            readonly created_by: components["schemas"]["ActorReference"];
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
            readonly expires_at: string | null;
            /** @description Accurate to the minute. */
            readonly last_used_at: string | null;
            readonly revoked_at: string | null;
            /** @description The first key in the chain of rolled keys, or this one: the `client_id` of the tokens that it requests. */
            readonly family_id: string;
            /** @description The key that this one replaces. */
            readonly rolled_from: string | null;
            /** @description The key that replaces this one; this one is refused from `expires_at` on. */
            readonly rolled_to: string | null;
            /** @description The key itself, shown only once. */
            readonly key: string;
        };
        readonly CreatedApiKeyResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["CreatedApiKey"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly ApiKeyResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["ApiKey"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly ApiKeyUpdate: {
            readonly name?: string;
            /** @description Addresses, or networks in CIDR notation, from which the key may be used; empty: from everywhere. Not for the scope `caller`. */
            readonly allowed_addresses?: readonly string[];
            readonly expires_at?: string | null;
        };
        readonly ApiKeyRoll: {
            /**
             * @description Seconds for which the rolled key stays valid; with 0 it is revoked from the next request on.
             * @default 86400
             */
            readonly overlap?: number;
        };
        /** @description The new key, and in `previous` the rolled one. */
        readonly RolledApiKey: {
            readonly id: string;
            readonly name: string;
            /** @enum {string} */
            readonly scope: "read_only" | "configuration" | "authentication" | "full_access" | "gateway" | "caller";
            /** @enum {string} */
            readonly environment: "production" | "sandbox";
            readonly customer_id: string | null;
            /** @description `user.permissions` of a caller. */
            readonly permissions: readonly string[];
            /** @description From where the key may be used; empty: from everywhere. */
            readonly allowed_addresses: readonly string[];
            /** @description The last four characters of the key. */
            readonly hint: string;
            /** @enum {string} */
            readonly status: "active" | "expired" | "revoked";
            readonly created_by: components["schemas"]["ActorReference"];
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
            readonly expires_at: string | null;
            /** @description Accurate to the minute. */
            readonly last_used_at: string | null;
            readonly revoked_at: string | null;
            /** @description The first key in the chain of rolled keys, or this one: the `client_id` of the tokens that it requests. */
            readonly family_id: string;
            /** @description The key that this one replaces. */
            readonly rolled_from: string | null;
            /** @description The key that replaces this one; this one is refused from `expires_at` on. */
            readonly rolled_to: string | null;
            /** @description The key itself, shown only once. */
            readonly key: string;
            readonly previous: components["schemas"]["ApiKey"];
        };
        readonly RolledApiKeyResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["RolledApiKey"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly Client: {
            /** @description The `client_id`, and `sub` of its tokens. */
            readonly id: string;
            readonly name: string;
            readonly customer_id: string | null;
            readonly scopes: readonly string[];
            /** @description The last four characters of the secret. */
            readonly hint: string;
            readonly previous_secret_expires_at: string | null;
            readonly created_by: components["schemas"]["ActorReference"];
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
            /** @description Accurate to the minute. */
            readonly last_used_at: string | null;
        };
        readonly ClientPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["Client"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly NewClient: {
            readonly name: string;
            /** @description The customer that the client acts for: `customer_id` of its tokens. Optional. */
            readonly customer_id?: string;
            /**
             * @description The scopes that it may request; without `scope`, a token gets all of them.
             * @default []
             */
            readonly scopes?: readonly string[];
        };
        readonly ClientWithSecret: {
            /** @description The `client_id`, and `sub` of its tokens. */
            readonly id: string;
            readonly name: string;
            readonly customer_id: string | null;
            readonly scopes: readonly string[];
            /** @description The last four characters of the secret. */
            readonly hint: string;
            readonly previous_secret_expires_at: string | null;
            readonly created_by: components["schemas"]["ActorReference"];
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
            /** @description Accurate to the minute. */
            readonly last_used_at: string | null;
            /** @description The secret itself, shown only once. */
            readonly client_secret: string;
        };
        readonly ClientWithSecretResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["ClientWithSecret"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly ClientResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["Client"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly ClientUpdate: {
            readonly name?: string;
            readonly scopes?: readonly string[];
        };
        readonly DeletedClient: {
            readonly id: string;
        };
        readonly DeletedClientResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["DeletedClient"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly ClientSecretRotation: {
            /**
             * @description How long the old secret stays valid next to the new one. With 0 it is refused at once, and so are existing tokens.
             * @default 86400
             */
            readonly overlap_seconds?: number;
        };
        readonly Setup: {
            readonly token: string;
            /** Format: email */
            readonly email: string;
            readonly name: string;
            /** Format: password */
            readonly password: string;
        };
        readonly DashboardUser: {
            readonly id: string;
            readonly email: string;
            readonly name: string;
            /** @enum {string} */
            readonly role: "owner" | "admin" | "viewer";
            /**
             * @description `invited` means that the user has not set a password yet.
             * @enum {string}
             */
            readonly status: "active" | "invited";
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
            readonly last_sign_in_at: string | null;
        };
        readonly DashboardUserResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["DashboardUser"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly InvitationAcceptance: {
            readonly token: string;
            /** Format: password */
            readonly password: string;
        };
        readonly Login: {
            /** Format: email */
            readonly email: string;
            /** Format: password */
            readonly password: string;
        };
        readonly DashboardSession: {
            readonly user: components["schemas"]["DashboardUser"];
            /** @enum {string} */
            readonly environment: "production" | "sandbox";
            readonly permissions: readonly ("read" | "configure" | "authenticate" | "gateway" | "sandbox" | "keys" | "team" | "self")[];
            /** @description For the header `X-CSRF-Token` of all requests except GET. */
            readonly csrf_token: string;
            /** Format: date-time */
            readonly expires_at: string;
        };
        readonly DashboardSessionResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["DashboardSession"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly SignedOut: {
            /** @constant */
            readonly signed_out: true;
        };
        readonly SignedOutResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["SignedOut"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly PasswordChange: {
            /** Format: password */
            readonly current_password: string;
            /** Format: password */
            readonly new_password: string;
        };
        readonly DashboardUserPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["DashboardUser"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly NewDashboardUser: {
            /** Format: email */
            readonly email: string;
            readonly name: string;
            /** @enum {string} */
            readonly role: "owner" | "admin" | "viewer";
        };
        readonly InvitedDashboardUser: {
            readonly id: string;
            readonly email: string;
            readonly name: string;
            /** @enum {string} */
            readonly role: "owner" | "admin" | "viewer";
            /**
             * @description `invited` means that the user has not set a password yet.
             * @enum {string}
             */
            readonly status: "active" | "invited";
            /** Format: date-time */
            readonly created_at: string;
            /** Format: date-time */
            readonly updated_at: string;
            readonly last_sign_in_at: string | null;
            readonly invitation: components["schemas"]["Invitation"];
        };
        readonly Invitation: {
            /** @description One-time link to set the password; shown only once. */
            readonly url: string;
            /** Format: date-time */
            readonly expires_at: string;
        };
        readonly InvitedDashboardUserResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["InvitedDashboardUser"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly DashboardUserUpdate: {
            readonly name?: string;
            /** @enum {string} */
            readonly role?: "owner" | "admin" | "viewer";
        };
        readonly DeletedDashboardUser: {
            readonly id: string;
            /** @constant */
            readonly deleted: true;
        };
        readonly DeletedDashboardUserResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["DeletedDashboardUser"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly GatewayState: {
            readonly cursor: string;
            /** @description replaces everything that was sent before */
            readonly complete: boolean;
            /** @description more follows `cursor`: ask again immediately; for a complete state only with `pages` */
            readonly more?: boolean;
            readonly customers: readonly {
                readonly id: string;
                /** @enum {string} */
                readonly status: "active" | "suspended" | "archived" | "deleted";
                readonly authentication: {
                    readonly mfa_required: boolean;
                    /** @description values of `acr` that count as multi-factor authentication */
                    readonly mfa_acr_values?: readonly string[];
                    readonly max_session_duration?: number;
                    readonly allowed_email_domains: readonly (readonly string[])[];
                    readonly allowed_ip_ranges: readonly (readonly string[])[];
                };
                readonly policy_sets: readonly string[];
            }[];
            /** @description only with a complete state: ids of all deleted customers */
            readonly customers_deleted: readonly string[];
            readonly sessions_ended: readonly {
                readonly session_id: string;
                /** Format: date-time */
                readonly until: string;
            }[];
            readonly users: readonly {
                readonly id: string;
                readonly customer_id: string;
                /** @enum {string} */
                readonly status: "active" | "suspended" | "deleted";
            }[];
            readonly policy_sets: readonly {
                readonly name: string;
                readonly version: string;
                readonly digest: string;
                readonly rollout?: components["schemas"]["RolloutTerms"];
            }[];
        };
        readonly RolloutTerms: {
            readonly id: string;
            readonly revision: number;
            readonly version: string;
            readonly digest: string;
            /** @enum {string} */
            readonly mode: "shadow" | "enforce";
            readonly percentage: number;
            /** @enum {string} */
            readonly sticky_by: "user" | "customer" | "client_ip";
            readonly guard: {
                readonly window_ms: number;
                readonly min_requests: number;
                readonly denial_increase: number;
                readonly error_increase: number;
                readonly slowdown: number;
                readonly ignored_callers: number;
            } | null;
        };
        readonly GatewayStateResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["GatewayState"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly GatewayPolicySet: {
            readonly name: string;
            readonly version: string;
            readonly digest: string;
            readonly files: readonly {
                readonly name: string;
                readonly text: string;
            }[];
        };
        readonly GatewayPolicySetResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["GatewayPolicySet"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly GatewayUser: {
            readonly id: string;
            readonly customer_id: string;
            /** @enum {string} */
            readonly status: "active" | "suspended";
        } & {
            readonly [key: string]: unknown;
        };
        readonly GatewayUserResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["GatewayUser"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly GatewayCaller: {
            readonly hash: string;
            readonly id: string;
            readonly name: string;
            readonly customer_id: string;
            readonly permissions: readonly string[];
            /** Format: date-time */
            readonly expires_at: string;
        };
        readonly GatewayCallerResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["GatewayCaller"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly Gateway: {
            readonly id: string;
            /** @description The name in its records. */
            readonly name: string;
            /** @enum {string} */
            readonly kind: "gateway" | "authz";
            readonly address: string;
            readonly version: string;
            /**
             * @description `lost`: it has not reported for three intervals, and at least 15 s. `diverged`: it enforces what was never published or, from a folder, what most gateways of its set do not. `lagging`: it does not enforce the active version yet, or any.
             * @enum {string}
             */
            readonly status: "alive" | "lagging" | "diverged" | "lost";
            readonly policies: {
                /** @enum {string} */
                readonly source: "directory" | "control_plane";
                readonly set: string;
                readonly version: string | null;
                readonly digest: string | null;
                /** @description Of the active version; null for folders. */
                readonly active_digest: string | null;
                /** Format: date-time */
                readonly since: string;
            };
            readonly rollout: {
                readonly digest: string;
                /** @enum {string} */
                readonly mode: "shadow" | "enforce";
                readonly percentage: number;
                /** @description By each version since this candidate is in force, not counting those in shadow. Gateways of earlier releases do not report them. */
                readonly decisions?: {
                    readonly stable: number;
                    readonly candidate: number;
                };
            } | null;
            readonly workers: {
                readonly expected: number;
                readonly ready: number;
            };
            /** @description Milliseconds by which its clock is ahead of the database's. */
            readonly clock_offset_ms: number;
            /** Format: date-time */
            readonly started_at: string;
            /** Format: date-time */
            readonly registered_at: string;
            /** Format: date-time */
            readonly last_seen_at: string;
            /** @description The API key family with which it reports. */
            readonly key: string;
        };
        readonly GatewayPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["Gateway"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly GatewayRegistration: {
            readonly id: string;
            /** @enum {string} */
            readonly kind: "gateway" | "authz";
            readonly address: string;
            readonly version: string;
            readonly policies: {
                /** @enum {string} */
                readonly source: "directory" | "control_plane";
                readonly set: string;
                readonly version: string | null;
                readonly digest: string | null;
            };
            readonly rollout: {
                readonly digest: string;
                /** @enum {string} */
                readonly mode: "shadow" | "enforce";
                readonly percentage: number;
                readonly decisions?: {
                    readonly stable: number;
                    readonly candidate: number;
                };
            } | null;
            readonly workers: {
                readonly expected: number;
                readonly ready: number;
            };
            /** Format: date-time */
            readonly started_at: string;
            /** Format: date-time */
            readonly sent_at: string;
            readonly interval_ms: number;
            readonly leaving: boolean;
        };
        readonly TakenRegistration: {
            readonly clock_offset_ms: number;
        };
        readonly TakenRegistrationResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["TakenRegistration"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly GatewayRecords: {
            /** @description Audit records as the gateway writes them, one object per decision or outcome. */
            readonly records: readonly unknown[];
        };
        readonly TakenRecords: {
            readonly accepted: number;
            readonly duplicates: number;
            readonly rejected: readonly {
                readonly index: number;
                /** @enum {string} */
                readonly code: "INVALID_RECORD" | "CLOCK_AHEAD" | "TOO_OLD";
                readonly message: string;
            }[];
        };
        readonly TakenRecordsResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["TakenRecords"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly GatewayStatistics: {
            readonly instance: string;
            readonly sequence: number;
            /** Format: date-time */
            readonly from: string;
            /** Format: date-time */
            readonly to: string;
            readonly caches: readonly {
                readonly name: string;
                readonly hits: number;
                readonly misses: number;
                readonly evictions: number;
            }[];
            readonly audit: {
                readonly decided: number;
                readonly recorded: number;
                readonly dropped: number;
            };
        };
        readonly TakenStatistics: {
            readonly accepted: boolean;
            /** @enum {string} */
            readonly reason?: "DUPLICATE" | "CLOCK_AHEAD" | "TOO_OLD";
        };
        readonly TakenStatisticsResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["TakenStatistics"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly SandboxPerson: {
            readonly id: string;
            readonly customer_id: string | null;
            readonly email: string;
            readonly name: string;
            readonly role: string | null;
            readonly department: string | null;
            readonly permissions: readonly string[];
            readonly attributes: {
                readonly [key: string]: unknown;
            };
            readonly amr: readonly string[];
            /** Format: date-time */
            readonly created_at: string;
        };
        readonly SandboxPersonPage: {
            /** @constant */
            readonly success: true;
            readonly data: readonly components["schemas"]["SandboxPerson"][];
            readonly pagination: components["schemas"]["Pagination"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly NewSandboxPerson: {
            /**
             * @description `null` if the person can sign in at every customer.
             * @default null
             */
            readonly customer_id?: string | null;
            /**
             * Format: email
             * @description The address by which the person is chosen at sign-in.
             */
            readonly email: string;
            readonly name: string;
            /** @default null */
            readonly role?: string | null;
            /** @default null */
            readonly department?: string | null;
            /** @default [] */
            readonly permissions?: readonly string[];
            /** @description Other attributes that policies read: `groups`, `assigned_customers`, ... */
            readonly attributes?: {
                readonly [key: string]: string | number | boolean | readonly string[];
            };
            /**
             * @description Authentication methods (RFC 8176); `mfa` means more than one factor.
             * @default [
             *       "pwd"
             *     ]
             */
            readonly amr?: readonly string[];
        };
        readonly SandboxPersonResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["SandboxPerson"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly DeletedSandboxPerson: {
            readonly id: string;
            /** @constant */
            readonly deleted: true;
        };
        readonly DeletedSandboxPersonResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["DeletedSandboxPerson"];
            readonly meta: components["schemas"]["Meta"];
        };
        readonly SandboxSignIn: {
            readonly customer_id: string;
            /** @description The e-mail address of a person. */
            readonly login?: string;
            /** @description A person who is not in the list: the same address is always the same user. */
            readonly person?: {
                /**
                 * Format: email
                 * @description The address by which the person is chosen at sign-in.
                 */
                readonly email: string;
                readonly name: string;
                /** @default null */
                readonly role?: string | null;
                /** @default null */
                readonly department?: string | null;
                /** @default [] */
                readonly permissions?: readonly string[];
                /** @description Other attributes that policies read: `groups`, `assigned_customers`, ... */
                readonly attributes?: {
                    readonly [key: string]: string | number | boolean | readonly string[];
                };
                /**
                 * @description Authentication methods (RFC 8176); `mfa` means more than one factor.
                 * @default [
                 *       "pwd"
                 *     ]
                 */
                readonly amr?: readonly string[];
            };
            readonly scopes?: readonly ("openid" | "profile" | "email" | "groups")[];
            /** @description In seconds; negative for an access token that has already expired. */
            readonly expires_in?: number;
        };
        readonly SandboxContents: {
            readonly customers: number;
            readonly people: number;
            readonly users: number;
            readonly sessions: number;
            readonly policies: number;
            readonly policy_sets: number;
            readonly webhooks: number;
            readonly api_keys: number;
            readonly decisions: number;
            readonly events: number;
        };
        readonly SandboxContentsResponse: {
            /** @constant */
            readonly success: true;
            readonly data: components["schemas"]["SandboxContents"];
            readonly meta: components["schemas"]["Meta"];
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly startSignIn: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SignInRequest"];
            };
        };
        readonly responses: {
            /** @description Start a sign-in */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["StartedSignInResponse"];
                };
            };
        };
    };
    readonly finishSignIn: {
        readonly parameters: {
            readonly query?: {
                readonly state?: string;
                readonly code?: string;
                readonly iss?: string;
                readonly error?: string;
                readonly error_description?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: never;
    };
    readonly exchangeCode: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CodeExchange"];
            };
        };
        readonly responses: {
            /** @description Exchange a code for tokens */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TokensResponse"];
                };
            };
        };
    };
    readonly refreshTokens: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["TokenRefresh"];
            };
        };
        readonly responses: {
            /** @description Exchange a refresh token for new tokens */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TokensResponse"];
                };
            };
        };
    };
    readonly logout: {
        readonly parameters: {
            readonly query?: {
                readonly session_id?: string;
                readonly user_id?: string;
                readonly customer_id?: string;
                readonly post_logout_return_url?: string;
                readonly state?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["LogoutRequest"];
            };
        };
        readonly responses: {
            /** @description End sessions */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["LogoutResponse"];
                };
            };
        };
    };
    readonly testCustomerIdp: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["IdpTestRequest"];
            };
        };
        readonly responses: {
            /** @description Test a customer's identity provider */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["IdpTestResponseWithWarnings"];
                };
            };
        };
    };
    readonly listSessions: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "created_at" | "last_used_at" | "expires_at";
                readonly order?: "asc" | "desc";
                readonly customer_id?: string;
                readonly user_id?: string;
                readonly status?: "active" | "expired" | "ended";
                readonly created_after?: string;
                readonly created_before?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List sessions */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SessionPage"];
                };
            };
        };
    };
    readonly getSession: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read a session */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SessionResponse"];
                };
            };
        };
    };
    readonly revokeSession: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Revoke a session */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SessionResponse"];
                };
            };
        };
    };
    readonly listCustomers: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "created_at" | "updated_at" | "name" | "status";
                readonly order?: "asc" | "desc";
                readonly status?: "active" | "suspended" | "archived";
                readonly name?: string;
                readonly external_id?: string;
                readonly created_after?: string;
                readonly created_before?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List customers */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CustomerPage"];
                };
            };
        };
    };
    readonly createCustomer: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewCustomer"];
            };
        };
        readonly responses: {
            /** @description Create a customer */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CustomerResponseWithWarnings"];
                };
            };
        };
    };
    readonly getCustomer: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description ETags that the caller has: if the resource still has one of them, the answer is 304. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read a customer */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CustomerResponse"];
                };
            };
        };
    };
    readonly updateCustomer: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CustomerUpdate"];
            };
        };
        readonly responses: {
            /** @description Update a customer */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CustomerResponse"];
                };
            };
        };
    };
    readonly deleteCustomer: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a customer */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletedCustomerResponse"];
                };
            };
        };
    };
    readonly patchCustomer: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["CustomerPatch"];
                readonly "application/merge-patch+json": components["schemas"]["CustomerPatch"];
            };
        };
        readonly responses: {
            /** @description Change parts of a customer */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CustomerResponse"];
                };
            };
        };
    };
    readonly getCustomerIdp: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description ETags that the caller has: if the resource still has one of them, the answer is 304. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read a customer's identity provider */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["IdentityProviderResponse"];
                };
            };
        };
    };
    readonly configureCustomerIdp: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewIdentityProvider"];
            };
        };
        readonly responses: {
            /** @description Configure a customer's identity provider */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["IdentityProviderResponseWithWarnings"];
                };
            };
            /** @description Configure a customer's identity provider */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["IdentityProviderResponseWithWarnings"];
                };
            };
        };
    };
    readonly deleteCustomerIdp: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a customer's identity provider */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletedIdentityProviderResponse"];
                };
            };
        };
    };
    readonly listUsersOfCustomer: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "created_at" | "updated_at" | "email" | "last_sign_in_at";
                readonly order?: "asc" | "desc";
                readonly status?: "active" | "suspended";
                readonly email?: string;
                readonly name?: string;
                readonly subject?: string;
                readonly created_after?: string;
                readonly created_before?: string;
                readonly role?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List the users of a customer */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["UserPage"];
                };
            };
        };
    };
    readonly createUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewUser"];
            };
        };
        readonly responses: {
            /** @description Add a user before their first sign-in */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["UserResponse"];
                };
            };
        };
    };
    readonly listUsers: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "created_at" | "updated_at" | "email" | "last_sign_in_at";
                readonly order?: "asc" | "desc";
                readonly status?: "active" | "suspended";
                readonly email?: string;
                readonly name?: string;
                readonly subject?: string;
                readonly created_after?: string;
                readonly created_before?: string;
                readonly role?: string;
                readonly customer_id?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List users */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["UserPage"];
                };
            };
        };
    };
    readonly getUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read a user */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["UserResponse"];
                };
            };
        };
    };
    readonly updateUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["UserUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a user's status or attributes */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["UserResponse"];
                };
            };
        };
    };
    readonly deleteUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a user */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletedUserResponse"];
                };
            };
        };
    };
    readonly patchUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["UserPatch"];
                readonly "application/merge-patch+json": components["schemas"]["UserPatch"];
            };
        };
        readonly responses: {
            /** @description Change a user's status or some attributes */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["UserResponse"];
                };
            };
        };
    };
    readonly exportUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Export all data about a user */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["UserExportResponse"];
                };
            };
        };
    };
    readonly listErasures: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "requested_at";
                readonly order?: "asc" | "desc";
                readonly kind?: "user" | "customer" | "dashboard_user";
                readonly status?: "running" | "finished";
                readonly customer_id?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List erasures */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErasurePage"];
                };
            };
        };
    };
    readonly getErasure: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read the progress of an erasure */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ErasureResponse"];
                };
            };
        };
    };
    readonly listPolicies: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "created_at" | "updated_at" | "name";
                readonly order?: "asc" | "desc";
                readonly type?: "authentication" | "authorization";
                readonly status?: "active" | "inactive";
                readonly name?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List policies */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicyPage"];
                };
            };
        };
    };
    readonly createPolicy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewPolicy"];
            };
        };
        readonly responses: {
            /** @description Create a policy */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicyResponse"];
                };
            };
        };
    };
    readonly getPolicy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description ETags that the caller has: if the resource still has one of them, the answer is 304. */
                readonly "If-None-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read a policy */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicyResponse"];
                };
            };
        };
    };
    readonly updatePolicy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PolicyUpdate"];
            };
        };
        readonly responses: {
            /** @description Update a policy */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicyResponseWithWarnings"];
                };
            };
        };
    };
    readonly deletePolicy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a policy */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletedPolicyResponse"];
                };
            };
        };
    };
    readonly patchPolicy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PolicyPatch"];
                readonly "application/merge-patch+json": components["schemas"]["PolicyPatch"];
            };
        };
        readonly responses: {
            /** @description Change parts of a policy */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicyResponseWithWarnings"];
                };
            };
        };
    };
    readonly listCustomerPolicies: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "assigned_at" | "created_at" | "updated_at" | "name";
                readonly order?: "asc" | "desc";
                readonly type?: "authentication" | "authorization";
                readonly status?: "active" | "inactive";
                readonly name?: string;
            };
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List a customer's policies */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AssignedPolicyPage"];
                };
            };
        };
    };
    readonly assignPolicies: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PolicyAssignment"];
            };
        };
        readonly responses: {
            /** @description Assign policies to a customer */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AssignedPolicyListWithWarnings"];
                };
            };
        };
    };
    readonly unassignPolicy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
                readonly policy_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Remove a policy from a customer */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicyUnassignmentResponse"];
                };
            };
        };
    };
    readonly previewPolicy: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
                readonly policy_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Count the open sessions of a customer that a policy would refuse */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicyImpactResponse"];
                };
            };
        };
    };
    readonly listPolicyCustomers: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "assigned_at";
                readonly order?: "asc" | "desc";
            };
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List the customers that a policy is assigned to */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicyAssigneePage"];
                };
            };
        };
    };
    readonly assignPolicyInBulk: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewBulkAssignment"];
            };
        };
        readonly responses: {
            /** @description Assign a policy to many customers */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BulkAssignmentResponse"];
                };
            };
        };
    };
    readonly listBulkAssignments: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "requested_at";
                readonly order?: "asc" | "desc";
                readonly policy_id?: string;
                readonly status?: "running" | "finished" | "cancelled" | "failed";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List assignments to many customers */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BulkAssignmentPage"];
                };
            };
        };
    };
    readonly getBulkAssignment: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read the progress of an assignment to many customers */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BulkAssignmentResponse"];
                };
            };
        };
    };
    readonly cancelBulkAssignment: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Cancel an assignment to many customers */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["BulkAssignmentResponse"];
                };
            };
        };
    };
    readonly listPolicySets: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "created_at" | "updated_at" | "name";
                readonly order?: "asc" | "desc";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List policy sets */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicySetPage"];
                };
            };
        };
    };
    readonly publishPolicySet: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewPolicySetVersion"];
            };
        };
        readonly responses: {
            /** @description Publish a version of a policy set */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicySetVersionResponse"];
                };
            };
            /** @description Publish a version of a policy set */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicySetVersionResponse"];
                };
            };
        };
    };
    readonly validatePolicySet: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PolicySetToValidate"];
            };
        };
        readonly responses: {
            /** @description Validate a policy set */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicySetValidationResponse"];
                };
            };
        };
    };
    readonly getPolicySet: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read a policy set */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicySetResponse"];
                };
            };
        };
    };
    readonly listPolicySetVersions: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "published_at" | "version";
                readonly order?: "asc" | "desc";
            };
            readonly header?: never;
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List the versions of a policy set */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicySetVersionPage"];
                };
            };
        };
    };
    readonly getPolicySetVersion: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly name: string;
                readonly version: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read a version of a policy set, with its files */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicySetVersionWithFilesResponse"];
                };
            };
        };
    };
    readonly activatePolicySet: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PolicySetActivation"];
            };
        };
        readonly responses: {
            /** @description Activate a version of a policy set */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicySetResponse"];
                };
            };
        };
    };
    readonly rollBackPolicySet: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Roll back to the previous version */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["PolicySetResponse"];
                };
            };
        };
    };
    readonly getRollout: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read the rollout of a policy set, with what gateways report about it */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RolloutProgressResponse"];
                };
            };
        };
    };
    readonly startRollout: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewRollout"];
            };
        };
        readonly responses: {
            /** @description Start a rollout, or change the terms of the one that runs */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RolloutResponse"];
                };
            };
            /** @description Start a rollout, or change the terms of the one that runs */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RolloutResponse"];
                };
            };
        };
    };
    readonly listRollouts: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "started_at";
                readonly order?: "asc" | "desc";
            };
            readonly header?: never;
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List the rollouts of a policy set */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RolloutPage"];
                };
            };
        };
    };
    readonly promoteRollout: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Make the candidate the active version */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RolloutResponse"];
                };
            };
        };
    };
    readonly abortRollout: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["RolloutAbort"];
            };
        };
        readonly responses: {
            /** @description Take the candidate back */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RolloutResponse"];
                };
            };
        };
    };
    readonly reportRollout: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["RolloutReport"];
            };
        };
        readonly responses: {
            /** @description Report what a gateway has seen of a rollout */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TakenRolloutReportResponse"];
                };
            };
        };
    };
    readonly getAnalytics: {
        readonly parameters: {
            readonly query?: {
                readonly from?: string;
                readonly to?: string;
                readonly customer_id?: string;
                readonly interval?: "minute" | "hour" | "day";
                readonly top?: number;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read the metrics of the dashboard */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AnalyticsResponse"];
                };
            };
        };
    };
    readonly listEvents: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "timestamp";
                readonly order?: "asc" | "desc";
                readonly type?: "user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered" | "authentication" | "session" | "policy" | "policy_set" | "customer" | "api_key" | "gateway";
                readonly customer_id?: string;
                readonly user_id?: string;
                readonly from?: string;
                readonly to?: string;
                readonly cursor?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List the history of events */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["EventPage"];
                };
            };
        };
    };
    readonly getEventFeed: {
        readonly parameters: {
            readonly query?: {
                readonly after?: string;
                readonly limit?: number;
                readonly type?: "user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered" | "authentication" | "session" | "policy" | "policy_set" | "customer" | "api_key" | "gateway";
                readonly customer_id?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Follow events */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["EventFeedResponse"];
                };
            };
        };
    };
    readonly listUserActivity: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "last_seen_at" | "requests" | "denied" | "sign_ins" | "first_seen_at" | "user_id";
                readonly order?: "asc" | "desc";
                readonly customer_id?: string;
                readonly seen_since?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List user activity */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["UserActivityPage"];
                };
            };
        };
    };
    readonly listAuditLogs: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "timestamp";
                readonly order?: "asc" | "desc";
                readonly from?: string;
                readonly to?: string;
                readonly kind?: string;
                readonly customer_id?: string;
                readonly user_id?: string;
                readonly decision?: "ALLOW" | "DENY";
                readonly reason?: string;
                readonly resource?: string;
                readonly action?: string;
                readonly rule?: string;
                readonly policy_set?: string;
                readonly request_id?: string;
                readonly decision_id?: string;
                readonly ingested_by?: string;
                readonly gateway?: string;
                readonly inputs?: "true";
                readonly cursor?: string;
                readonly format?: "json" | "ndjson";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List the audit trail */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["AuditRecordPage"];
                    readonly "application/x-ndjson": components["schemas"]["AuditRecord"];
                };
            };
        };
    };
    readonly listWebhooks: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "created_at" | "updated_at";
                readonly order?: "asc" | "desc";
                readonly status?: "enabled" | "disabled";
                readonly customer_id?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List webhooks */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookPage"];
                };
            };
        };
    };
    readonly createWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewWebhook"];
            };
        };
        readonly responses: {
            /** @description Register a webhook */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookWithSecretResponseWithWarnings"];
                };
            };
        };
    };
    readonly getWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read a webhook */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookResponse"];
                };
            };
        };
    };
    readonly updateWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["WebhookUpdate"];
            };
        };
        readonly responses: {
            /** @description Update a webhook */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookResponse"];
                };
            };
        };
    };
    readonly deleteWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a webhook */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletedWebhookResponse"];
                };
            };
        };
    };
    readonly patchWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["WebhookUpdate"];
                readonly "application/merge-patch+json": components["schemas"]["WebhookUpdate"];
            };
        };
        readonly responses: {
            /** @description Update a webhook */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookResponse"];
                };
            };
        };
    };
    readonly rotateWebhookSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["WebhookSecretRotation"];
            };
        };
        readonly responses: {
            /** @description Replace a webhook's secret */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookWithSecretResponseWithWarnings"];
                };
            };
        };
    };
    readonly enableWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Enable a disabled webhook */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookResponse"];
                };
            };
        };
    };
    readonly listWebhookDeliveries: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "created_at";
                readonly order?: "asc" | "desc";
                readonly status?: "pending" | "delivering" | "delivered" | "failed" | "cancelled";
                readonly type?: "user.authenticated" | "user.authentication_failed" | "user.logged_out" | "user.deleted" | "session.revoked" | "policy.violated" | "policy.updated" | "policy_set.published" | "policy_set.rollout_started" | "policy_set.rollout_changed" | "policy_set.rollout_promoted" | "policy_set.rollout_aborted" | "customer.created" | "customer.updated" | "customer.suspended" | "api_key.created" | "api_key.revoked" | "gateway.lost" | "gateway.diverged" | "gateway.lagging" | "gateway.recovered" | "webhook.test";
            };
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List the deliveries of a webhook */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookDeliveryPage"];
                };
            };
        };
    };
    readonly getWebhookDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
                readonly delivery_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read a delivery with its payload */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookDeliveryWithPayloadResponse"];
                };
            };
        };
    };
    readonly testWebhook: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Send a test event */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookDeliveryResponse"];
                };
            };
        };
    };
    readonly redeliverWebhookDelivery: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly id: string;
                readonly delivery_id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Send the event of a delivery again */
            readonly 202: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["WebhookDeliveryResponse"];
                };
            };
        };
    };
    readonly listApiKeys: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "created_at" | "name";
                readonly order?: "asc" | "desc";
                readonly status?: "active" | "expired" | "revoked";
                readonly scope?: "read_only" | "configuration" | "authentication" | "full_access" | "gateway" | "caller";
                readonly customer_id?: string;
                readonly family_id?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List API keys */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ApiKeyPage"];
                };
            };
        };
    };
    readonly createApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewApiKey"];
            };
        };
        readonly responses: {
            /** @description Create an API key */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["CreatedApiKeyResponse"];
                };
            };
        };
    };
    readonly getApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read an API key */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ApiKeyResponse"];
                };
            };
        };
    };
    readonly updateApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ApiKeyUpdate"];
            };
        };
        readonly responses: {
            /** @description Rename an API key, or change when it expires and from where it may be used */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ApiKeyResponse"];
                };
            };
        };
    };
    readonly revokeApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Revoke an API key */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ApiKeyResponse"];
                };
            };
        };
    };
    readonly patchApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ApiKeyUpdate"];
                readonly "application/merge-patch+json": components["schemas"]["ApiKeyUpdate"];
            };
        };
        readonly responses: {
            /** @description Rename an API key, or change when it expires and from where it may be used */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ApiKeyResponse"];
                };
            };
        };
    };
    readonly rollApiKey: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["ApiKeyRoll"];
            };
        };
        readonly responses: {
            /** @description Replace an API key */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["RolledApiKeyResponse"];
                };
            };
        };
    };
    readonly listClients: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "created_at" | "name";
                readonly order?: "asc" | "desc";
                readonly customer_id?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List machine clients */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ClientPage"];
                };
            };
        };
    };
    readonly createClient: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewClient"];
            };
        };
        readonly responses: {
            /** @description Create a machine client */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ClientWithSecretResponse"];
                };
            };
        };
    };
    readonly getClient: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read a machine client */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ClientResponse"];
                };
            };
        };
    };
    readonly updateClient: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ClientUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a machine client's name or scopes */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ClientResponse"];
                };
            };
        };
    };
    readonly deleteClient: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a machine client */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletedClientResponse"];
                };
            };
        };
    };
    readonly patchClient: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["ClientUpdate"];
                readonly "application/merge-patch+json": components["schemas"]["ClientUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a machine client's name or scopes */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ClientResponse"];
                };
            };
        };
    };
    readonly rotateClientSecret: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: {
            readonly content: {
                readonly "application/json": components["schemas"]["ClientSecretRotation"];
            };
        };
        readonly responses: {
            /** @description Replace a machine client's secret */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["ClientWithSecretResponse"];
                };
            };
        };
    };
    readonly setUp: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["Setup"];
            };
        };
        readonly responses: {
            /** @description Create the first owner */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DashboardUserResponse"];
                };
            };
        };
    };
    readonly acceptInvitation: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["InvitationAcceptance"];
            };
        };
        readonly responses: {
            /** @description Accept an invitation and set the password */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DashboardUserResponse"];
                };
            };
        };
    };
    readonly logIn: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["Login"];
            };
        };
        readonly responses: {
            /** @description Sign in to the dashboard */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DashboardSessionResponse"];
                };
            };
        };
    };
    readonly getDashboardSession: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read who is signed in, and the CSRF token */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DashboardSessionResponse"];
                };
            };
        };
    };
    readonly logOut: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Sign out of the dashboard */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SignedOutResponse"];
                };
            };
        };
    };
    readonly changePassword: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["PasswordChange"];
            };
        };
        readonly responses: {
            /** @description Change your own password */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DashboardUserResponse"];
                };
            };
        };
    };
    readonly listDashboardUsers: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "created_at" | "email" | "name";
                readonly order?: "asc" | "desc";
                readonly role?: "owner" | "admin" | "viewer";
                readonly status?: "active" | "invited";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List dashboard users */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DashboardUserPage"];
                };
            };
        };
    };
    readonly inviteDashboardUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewDashboardUser"];
            };
        };
        readonly responses: {
            /** @description Invite a dashboard user */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["InvitedDashboardUserResponse"];
                };
            };
        };
    };
    readonly getDashboardUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read a dashboard user */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DashboardUserResponse"];
                };
            };
        };
    };
    readonly updateDashboardUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["DashboardUserUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a dashboard user's name or role */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DashboardUserResponse"];
                };
            };
        };
    };
    readonly deleteDashboardUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Delete a dashboard user */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletedDashboardUserResponse"];
                };
            };
        };
    };
    readonly patchDashboardUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description Refuses the change if the resource has another ETag. */
                readonly "If-Match"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["DashboardUserUpdate"];
                readonly "application/merge-patch+json": components["schemas"]["DashboardUserUpdate"];
            };
        };
        readonly responses: {
            /** @description Change a dashboard user's name or role */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DashboardUserResponse"];
                };
            };
        };
    };
    readonly inviteDashboardUserAgain: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Create a new link to set a user's password */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["InvitedDashboardUserResponse"];
                };
            };
        };
    };
    readonly followState: {
        readonly parameters: {
            readonly query?: {
                readonly after?: string;
                readonly wait?: number;
                readonly pages?: "true";
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Sync the state that gateways decide by */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["GatewayStateResponse"];
                };
            };
        };
    };
    readonly getActivePolicySet: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly name: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read the active version of a policy set */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["GatewayPolicySetResponse"];
                };
            };
        };
    };
    readonly getPolicySetVersionForGateway: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly name: string;
                readonly version: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Read a version of a policy set, such as the candidate of a rollout */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["GatewayPolicySetResponse"];
                };
            };
        };
    };
    readonly lookUpUser: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly key: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Look up the attributes of a user */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["GatewayUserResponse"];
                };
            };
        };
    };
    readonly lookUpCaller: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly hash: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Look up the caller whom an API key names */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["GatewayCallerResponse"];
                };
            };
        };
    };
    readonly listGateways: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "id" | "last_seen_at";
                readonly order?: "asc" | "desc";
                readonly status?: "alive" | "lagging" | "diverged" | "lost";
                readonly policy_set?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List gateways */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["GatewayPage"];
                };
            };
        };
    };
    readonly registerGateway: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["GatewayRegistration"];
            };
        };
        readonly responses: {
            /** @description Report what a gateway is and enforces */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TakenRegistrationResponse"];
                };
            };
        };
    };
    readonly takeRecords: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["GatewayRecords"];
            };
        };
        readonly responses: {
            /** @description Ingest audit records of a gateway */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TakenRecordsResponse"];
                };
            };
        };
    };
    readonly takeStatistics: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["GatewayStatistics"];
            };
        };
        readonly responses: {
            /** @description Ingest statistics of a gateway */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TakenStatisticsResponse"];
                };
            };
        };
    };
    readonly listPeople: {
        readonly parameters: {
            readonly query?: {
                readonly page?: number;
                readonly limit?: number;
                readonly sort?: "created_at" | "name" | "email";
                readonly order?: "asc" | "desc";
                readonly customer_id?: string;
                readonly role?: string;
                readonly email?: string;
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description List the sandbox's people */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SandboxPersonPage"];
                };
            };
        };
    };
    readonly createPerson: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["NewSandboxPerson"];
            };
        };
        readonly responses: {
            /** @description Add a person */
            readonly 201: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SandboxPersonResponse"];
                };
            };
        };
    };
    readonly deletePerson: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path: {
                readonly id: string;
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Remove a person */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["DeletedSandboxPersonResponse"];
                };
            };
        };
    };
    readonly signInHeadless: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody: {
            readonly content: {
                readonly "application/json": components["schemas"]["SandboxSignIn"];
            };
        };
        readonly responses: {
            /** @description Sign in a person without a browser */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["TokensResponse"];
                };
            };
        };
    };
    readonly resetSandbox: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: {
                /** @description A request that is repeated with the same key within 24 hours is carried out only once. */
                readonly "Idempotency-Key"?: string;
            };
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description Reset the sandbox */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": components["schemas"]["SandboxContentsResponse"];
                };
            };
        };
    };
}
