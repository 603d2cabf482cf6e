// Generated from the OpenAPI document of the control plane: see clients/README.md.
import type { FakeData } from "./fake-data-types.ts";

export const DATA: FakeData = {
  operations: {
    listSessions: {
      method: "GET",
      path: "/sessions",
      query: {
        page: {
          default: "1",
          type: "integer",
          minimum: 1,
          maximum: 1000000,
        },
        limit: {
          default: "20",
          type: "integer",
          minimum: 1,
          maximum: 100,
        },
        sort: {
          default: "created_at",
          type: "string",
          enum: ["created_at", "last_used_at", "expires_at"],
        },
        order: {
          default: "desc",
          type: "string",
          enum: ["asc", "desc"],
        },
        customer_id: {
          type: "string",
          minLength: 1,
          maxLength: 128,
        },
        user_id: {
          type: "string",
          minLength: 1,
          maxLength: 128,
        },
        status: {
          type: "string",
          enum: ["active", "expired", "ended"],
        },
        created_after: {
          type: "string",
          format: "date-time",
        },
        created_before: {
          type: "string",
          format: "date-time",
        },
      },
    },
    getSession: {
      method: "GET",
      path: "/sessions/{id}",
      query: {},
    },
    revokeSession: {
      method: "DELETE",
      path: "/sessions/{id}",
      query: {},
    },
    listCustomers: {
      method: "GET",
      path: "/customers",
      query: {
        page: {
          default: "1",
          type: "integer",
          minimum: 1,
          maximum: 1000000,
        },
        limit: {
          default: "20",
          type: "integer",
          minimum: 1,
          maximum: 100,
        },
        sort: {
          default: "created_at",
          type: "string",
          enum: ["created_at", "updated_at", "name", "status"],
        },
        order: {
          default: "desc",
          type: "string",
          enum: ["asc", "desc"],
        },
        status: {
          type: "string",
          enum: ["active", "suspended", "archived"],
        },
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
        external_id: {
          type: "string",
          pattern: "^[!-~]{1,200}$",
        },
        created_after: {
          type: "string",
          format: "date-time",
        },
        created_before: {
          type: "string",
          format: "date-time",
        },
      },
    },
    createCustomer: {
      method: "POST",
      path: "/customers",
      body: {
        $ref: "NewCustomer",
      },
      query: {},
    },
    getCustomer: {
      method: "GET",
      path: "/customers/{id}",
      query: {},
    },
    updateCustomer: {
      method: "PUT",
      path: "/customers/{id}",
      body: {
        $ref: "CustomerUpdate",
      },
      query: {},
    },
    patchCustomer: {
      method: "PATCH",
      path: "/customers/{id}",
      body: {
        $ref: "CustomerPatch",
      },
      query: {},
    },
    deleteCustomer: {
      method: "DELETE",
      path: "/customers/{id}",
      query: {},
    },
    listUsersOfCustomer: {
      method: "GET",
      path: "/customers/{id}/users",
      query: {
        page: {
          default: "1",
          type: "integer",
          minimum: 1,
          maximum: 1000000,
        },
        limit: {
          default: "20",
          type: "integer",
          minimum: 1,
          maximum: 100,
        },
        sort: {
          default: "created_at",
          type: "string",
          enum: ["created_at", "updated_at", "email", "last_sign_in_at"],
        },
        order: {
          default: "desc",
          type: "string",
          enum: ["asc", "desc"],
        },
        status: {
          type: "string",
          enum: ["active", "suspended"],
        },
        email: {
          type: "string",
          format: "email",
        },
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
        subject: {
          type: "string",
          minLength: 1,
          maxLength: 255,
        },
        created_after: {
          type: "string",
          format: "date-time",
        },
        created_before: {
          type: "string",
          format: "date-time",
        },
        role: {
          type: "string",
          minLength: 1,
          maxLength: 500,
        },
      },
    },
    createUser: {
      method: "POST",
      path: "/customers/{id}/users",
      body: {
        $ref: "NewUser",
      },
      query: {},
    },
    listUsers: {
      method: "GET",
      path: "/users",
      query: {
        page: {
          default: "1",
          type: "integer",
          minimum: 1,
          maximum: 1000000,
        },
        limit: {
          default: "20",
          type: "integer",
          minimum: 1,
          maximum: 100,
        },
        sort: {
          default: "created_at",
          type: "string",
          enum: ["created_at", "updated_at", "email", "last_sign_in_at"],
        },
        order: {
          default: "desc",
          type: "string",
          enum: ["asc", "desc"],
        },
        status: {
          type: "string",
          enum: ["active", "suspended"],
        },
        email: {
          type: "string",
          format: "email",
        },
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
        subject: {
          type: "string",
          minLength: 1,
          maxLength: 255,
        },
        created_after: {
          type: "string",
          format: "date-time",
        },
        created_before: {
          type: "string",
          format: "date-time",
        },
        role: {
          type: "string",
          minLength: 1,
          maxLength: 500,
        },
        customer_id: {
          type: "string",
          minLength: 1,
          maxLength: 128,
        },
      },
    },
    getUser: {
      method: "GET",
      path: "/users/{id}",
      query: {},
    },
    updateUser: {
      method: "PUT",
      path: "/users/{id}",
      body: {
        $ref: "UserUpdate",
      },
      query: {},
    },
    patchUser: {
      method: "PATCH",
      path: "/users/{id}",
      body: {
        $ref: "UserPatch",
      },
      query: {},
    },
    deleteUser: {
      method: "DELETE",
      path: "/users/{id}",
      query: {},
    },
    listPolicies: {
      method: "GET",
      path: "/policies",
      query: {
        page: {
          default: "1",
          type: "integer",
          minimum: 1,
          maximum: 1000000,
        },
        limit: {
          default: "20",
          type: "integer",
          minimum: 1,
          maximum: 100,
        },
        sort: {
          default: "created_at",
          type: "string",
          enum: ["created_at", "updated_at", "name"],
        },
        order: {
          default: "desc",
          type: "string",
          enum: ["asc", "desc"],
        },
        type: {
          type: "string",
          enum: ["authentication", "authorization"],
        },
        status: {
          type: "string",
          enum: ["active", "inactive"],
        },
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
      },
    },
    createPolicy: {
      method: "POST",
      path: "/policies",
      body: {
        $ref: "NewPolicy",
      },
      query: {},
    },
    getPolicy: {
      method: "GET",
      path: "/policies/{id}",
      query: {},
    },
    updatePolicy: {
      method: "PUT",
      path: "/policies/{id}",
      body: {
        $ref: "PolicyUpdate",
      },
      query: {},
    },
    patchPolicy: {
      method: "PATCH",
      path: "/policies/{id}",
      body: {
        $ref: "PolicyPatch",
      },
      query: {},
    },
    deletePolicy: {
      method: "DELETE",
      path: "/policies/{id}",
      query: {},
    },
    listCustomerPolicies: {
      method: "GET",
      path: "/customers/{id}/policies",
      query: {
        page: {
          default: "1",
          type: "integer",
          minimum: 1,
          maximum: 1000000,
        },
        limit: {
          default: "20",
          type: "integer",
          minimum: 1,
          maximum: 100,
        },
        sort: {
          default: "assigned_at",
          type: "string",
          enum: ["assigned_at", "created_at", "updated_at", "name"],
        },
        order: {
          default: "desc",
          type: "string",
          enum: ["asc", "desc"],
        },
        type: {
          type: "string",
          enum: ["authentication", "authorization"],
        },
        status: {
          type: "string",
          enum: ["active", "inactive"],
        },
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
      },
    },
    assignPolicies: {
      method: "POST",
      path: "/customers/{id}/policies",
      body: {
        $ref: "PolicyAssignment",
      },
      query: {},
    },
    unassignPolicy: {
      method: "DELETE",
      path: "/customers/{id}/policies/{policy_id}",
      query: {},
    },
    listPolicyCustomers: {
      method: "GET",
      path: "/policies/{id}/customers",
      query: {
        page: {
          default: "1",
          type: "integer",
          minimum: 1,
          maximum: 1000000,
        },
        limit: {
          default: "20",
          type: "integer",
          minimum: 1,
          maximum: 100,
        },
        sort: {
          default: "assigned_at",
          type: "string",
          enum: ["assigned_at"],
        },
        order: {
          default: "desc",
          type: "string",
          enum: ["asc", "desc"],
        },
      },
    },
    getEventFeed: {
      method: "GET",
      path: "/events",
      query: {
        after: {
          type: "string",
          minLength: 1,
          maxLength: 500,
        },
        limit: {
          default: "100",
          type: "integer",
          minimum: 1,
          maximum: 500,
        },
        type: {
          type: "string",
          enum: [
            "user.authenticated",
            "user.authentication_failed",
            "user.logged_out",
            "user.deleted",
            "session.revoked",
            "policy.violated",
            "policy.updated",
            "policy_set.published",
            "policy_set.rollout_started",
            "policy_set.rollout_changed",
            "policy_set.rollout_promoted",
            "policy_set.rollout_aborted",
            "customer.created",
            "customer.updated",
            "customer.suspended",
            "api_key.created",
            "api_key.revoked",
            "gateway.lost",
            "gateway.diverged",
            "gateway.lagging",
            "gateway.recovered",
            "authentication",
            "session",
            "policy",
            "policy_set",
            "customer",
            "api_key",
            "gateway",
          ],
        },
        customer_id: {
          type: "string",
          minLength: 1,
          maxLength: 512,
        },
      },
    },
    listWebhooks: {
      method: "GET",
      path: "/webhooks",
      query: {
        page: {
          default: "1",
          type: "integer",
          minimum: 1,
          maximum: 1000000,
        },
        limit: {
          default: "20",
          type: "integer",
          minimum: 1,
          maximum: 100,
        },
        sort: {
          default: "created_at",
          type: "string",
          enum: ["created_at", "updated_at"],
        },
        order: {
          default: "desc",
          type: "string",
          enum: ["asc", "desc"],
        },
        status: {
          type: "string",
          enum: ["enabled", "disabled"],
        },
        customer_id: {
          type: "string",
          minLength: 1,
          maxLength: 128,
        },
      },
    },
    createWebhook: {
      method: "POST",
      path: "/webhooks",
      body: {
        $ref: "NewWebhook",
      },
      query: {},
    },
    getWebhook: {
      method: "GET",
      path: "/webhooks/{id}",
      query: {},
    },
    updateWebhook: {
      method: "PUT",
      path: "/webhooks/{id}",
      body: {
        $ref: "WebhookUpdate",
      },
      query: {},
    },
    patchWebhook: {
      method: "PATCH",
      path: "/webhooks/{id}",
      body: {
        $ref: "WebhookUpdate",
      },
      query: {},
    },
    deleteWebhook: {
      method: "DELETE",
      path: "/webhooks/{id}",
      query: {},
    },
    rotateWebhookSecret: {
      method: "POST",
      path: "/webhooks/{id}/rotate-secret",
      body: {
        $ref: "WebhookSecretRotation",
      },
      query: {},
    },
    enableWebhook: {
      method: "POST",
      path: "/webhooks/{id}/enable",
      query: {},
    },
    listApiKeys: {
      method: "GET",
      path: "/api-keys",
      query: {
        page: {
          default: "1",
          type: "integer",
          minimum: 1,
          maximum: 1000000,
        },
        limit: {
          default: "20",
          type: "integer",
          minimum: 1,
          maximum: 100,
        },
        sort: {
          default: "created_at",
          type: "string",
          enum: ["created_at", "name"],
        },
        order: {
          default: "desc",
          type: "string",
          enum: ["asc", "desc"],
        },
        status: {
          type: "string",
          enum: ["active", "expired", "revoked"],
        },
        scope: {
          type: "string",
          enum: ["read_only", "configuration", "authentication", "full_access", "gateway", "caller"],
        },
        customer_id: {
          type: "string",
          maxLength: 128,
        },
        family_id: {
          type: "string",
          maxLength: 128,
        },
      },
    },
    createApiKey: {
      method: "POST",
      path: "/api-keys",
      body: {
        $ref: "NewApiKey",
      },
      query: {},
    },
    getApiKey: {
      method: "GET",
      path: "/api-keys/{id}",
      query: {},
    },
    updateApiKey: {
      method: "PUT",
      path: "/api-keys/{id}",
      body: {
        $ref: "ApiKeyUpdate",
      },
      query: {},
    },
    patchApiKey: {
      method: "PATCH",
      path: "/api-keys/{id}",
      body: {
        $ref: "ApiKeyUpdate",
      },
      query: {},
    },
    revokeApiKey: {
      method: "DELETE",
      path: "/api-keys/{id}",
      query: {},
    },
    rollApiKey: {
      method: "POST",
      path: "/api-keys/{id}/roll",
      body: {
        $ref: "ApiKeyRoll",
      },
      query: {},
    },
  },
  schemas: {
    NewCustomer: {
      type: "object",
      properties: {
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
        external_id: {
          default: null,
          anyOf: [
            {
              type: "string",
              pattern: "^[!-~]{1,200}$",
            },
            {
              type: "null",
            },
          ],
        },
        status: {
          default: "active",
          type: "string",
          enum: ["active", "suspended"],
        },
        allowed_return_urls: {
          default: [],
          maxItems: 50,
          type: "array",
          items: {
            type: "string",
            maxLength: 2000,
          },
        },
        metadata: {
          type: "object",
          propertyNames: {
            type: "string",
            minLength: 1,
            maxLength: 64,
          },
          additionalProperties: {
            anyOf: [
              {
                type: "string",
                maxLength: 500,
              },
              {
                type: "number",
                minimum: -9007199254740991,
                maximum: 9007199254740991,
              },
              {
                type: "boolean",
              },
              {
                type: "null",
              },
            ],
          },
        },
        allowed_roles: {
          default: null,
          anyOf: [
            {
              maxItems: 200,
              type: "array",
              items: {
                type: "string",
                minLength: 1,
                maxLength: 256,
              },
            },
            {
              type: "null",
            },
          ],
        },
        allowed_permissions: {
          default: null,
          anyOf: [
            {
              maxItems: 200,
              type: "array",
              items: {
                type: "string",
                minLength: 1,
                maxLength: 256,
              },
            },
            {
              type: "null",
            },
          ],
        },
        allowed_groups: {
          default: null,
          anyOf: [
            {
              maxItems: 200,
              type: "array",
              items: {
                type: "string",
                minLength: 1,
                maxLength: 256,
              },
            },
            {
              type: "null",
            },
          ],
        },
        allowed_claims: {
          default: null,
          anyOf: [
            {
              maxItems: 200,
              type: "array",
              items: {
                anyOf: [
                  {
                    type: "string",
                    const: "*",
                  },
                  {
                    type: "string",
                    pattern: "^[A-Za-z_]\\w{0,63}$",
                  },
                ],
              },
            },
            {
              type: "null",
            },
          ],
        },
        role_mapping: {
          type: "object",
          propertyNames: {
            type: "string",
            minLength: 1,
            maxLength: 256,
          },
          additionalProperties: {
            minItems: 1,
            maxItems: 20,
            type: "array",
            items: {
              type: "string",
              minLength: 1,
              maxLength: 256,
            },
          },
        },
        policy_ids: {
          default: [],
          minItems: 0,
          maxItems: 100,
          type: "array",
          items: {
            type: "string",
            pattern: "^pol_[0-7][0-9a-hjkmnp-tv-z]{25}$",
          },
        },
      },
      required: ["name"],
      additionalProperties: false,
    },
    CustomerUpdate: {
      type: "object",
      properties: {
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
        external_id: {
          anyOf: [
            {
              type: "string",
              pattern: "^[!-~]{1,200}$",
            },
            {
              type: "null",
            },
          ],
        },
        allowed_return_urls: {
          maxItems: 50,
          type: "array",
          items: {
            type: "string",
            maxLength: 2000,
          },
        },
        metadata: {
          type: "object",
          propertyNames: {
            type: "string",
            minLength: 1,
            maxLength: 64,
          },
          additionalProperties: {
            anyOf: [
              {
                type: "string",
                maxLength: 500,
              },
              {
                type: "number",
                minimum: -9007199254740991,
                maximum: 9007199254740991,
              },
              {
                type: "boolean",
              },
              {
                type: "null",
              },
            ],
          },
        },
        allowed_roles: {
          anyOf: [
            {
              maxItems: 200,
              type: "array",
              items: {
                type: "string",
                minLength: 1,
                maxLength: 256,
              },
            },
            {
              type: "null",
            },
          ],
        },
        allowed_permissions: {
          anyOf: [
            {
              maxItems: 200,
              type: "array",
              items: {
                type: "string",
                minLength: 1,
                maxLength: 256,
              },
            },
            {
              type: "null",
            },
          ],
        },
        allowed_groups: {
          anyOf: [
            {
              maxItems: 200,
              type: "array",
              items: {
                type: "string",
                minLength: 1,
                maxLength: 256,
              },
            },
            {
              type: "null",
            },
          ],
        },
        allowed_claims: {
          anyOf: [
            {
              maxItems: 200,
              type: "array",
              items: {
                anyOf: [
                  {
                    type: "string",
                    const: "*",
                  },
                  {
                    type: "string",
                    pattern: "^[A-Za-z_]\\w{0,63}$",
                  },
                ],
              },
            },
            {
              type: "null",
            },
          ],
        },
        role_mapping: {
          type: "object",
          propertyNames: {
            type: "string",
            minLength: 1,
            maxLength: 256,
          },
          additionalProperties: {
            minItems: 1,
            maxItems: 20,
            type: "array",
            items: {
              type: "string",
              minLength: 1,
              maxLength: 256,
            },
          },
        },
        status: {
          type: "string",
          enum: ["active", "suspended", "archived"],
        },
      },
      additionalProperties: false,
      minProperties: 1,
    },
    CustomerPatch: {
      type: "object",
      properties: {
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
        external_id: {
          anyOf: [
            {
              type: "string",
              pattern: "^[!-~]{1,200}$",
            },
            {
              type: "null",
            },
          ],
        },
        allowed_return_urls: {
          maxItems: 50,
          type: "array",
          items: {
            type: "string",
            maxLength: 2000,
          },
        },
        metadata: {
          type: "object",
          propertyNames: {
            type: "string",
          },
          additionalProperties: {},
        },
        allowed_roles: {
          anyOf: [
            {
              maxItems: 200,
              type: "array",
              items: {
                type: "string",
                minLength: 1,
                maxLength: 256,
              },
            },
            {
              type: "null",
            },
          ],
        },
        allowed_permissions: {
          anyOf: [
            {
              maxItems: 200,
              type: "array",
              items: {
                type: "string",
                minLength: 1,
                maxLength: 256,
              },
            },
            {
              type: "null",
            },
          ],
        },
        allowed_groups: {
          anyOf: [
            {
              maxItems: 200,
              type: "array",
              items: {
                type: "string",
                minLength: 1,
                maxLength: 256,
              },
            },
            {
              type: "null",
            },
          ],
        },
        allowed_claims: {
          anyOf: [
            {
              maxItems: 200,
              type: "array",
              items: {
                anyOf: [
                  {
                    type: "string",
                    const: "*",
                  },
                  {
                    type: "string",
                    pattern: "^[A-Za-z_]\\w{0,63}$",
                  },
                ],
              },
            },
            {
              type: "null",
            },
          ],
        },
        role_mapping: {
          type: "object",
          propertyNames: {
            type: "string",
          },
          additionalProperties: {},
        },
        status: {
          type: "string",
          enum: ["active", "suspended", "archived"],
        },
      },
      additionalProperties: false,
      minProperties: 1,
    },
    NewUser: {
      type: "object",
      properties: {
        subject: {
          type: "string",
          minLength: 1,
          maxLength: 255,
        },
        email: {
          type: "string",
          format: "email",
        },
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
        attributes: {
          type: "object",
          propertyNames: {
            type: "string",
            pattern: "^[A-Za-z_]\\w{0,63}$",
          },
          additionalProperties: {
            anyOf: [
              {
                type: "string",
                maxLength: 500,
              },
              {
                type: "number",
                minimum: -9007199254740991,
                maximum: 9007199254740991,
              },
              {
                type: "boolean",
              },
              {
                maxItems: 200,
                type: "array",
                items: {
                  type: "string",
                  maxLength: 500,
                },
              },
            ],
          },
        },
      },
      required: ["subject"],
      additionalProperties: false,
    },
    UserUpdate: {
      type: "object",
      properties: {
        status: {
          type: "string",
          enum: ["active", "suspended"],
        },
        attributes: {
          type: "object",
          propertyNames: {
            type: "string",
            pattern: "^[A-Za-z_]\\w{0,63}$",
          },
          additionalProperties: {
            anyOf: [
              {
                type: "string",
                maxLength: 500,
              },
              {
                type: "number",
                minimum: -9007199254740991,
                maximum: 9007199254740991,
              },
              {
                type: "boolean",
              },
              {
                maxItems: 200,
                type: "array",
                items: {
                  type: "string",
                  maxLength: 500,
                },
              },
            ],
          },
        },
      },
      additionalProperties: false,
      minProperties: 1,
    },
    UserPatch: {
      type: "object",
      properties: {
        status: {
          type: "string",
          enum: ["active", "suspended"],
        },
        attributes: {
          type: "object",
          propertyNames: {
            type: "string",
          },
          additionalProperties: {},
        },
      },
      additionalProperties: false,
      minProperties: 1,
    },
    NewPolicy: {
      oneOf: [
        {
          $ref: "NewAuthenticationPolicy",
        },
        {
          $ref: "NewAuthorizationPolicy",
        },
      ],
    },
    NewAuthenticationPolicy: {
      type: "object",
      properties: {
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
        description: {
          default: "",
          type: "string",
          maxLength: 2000,
        },
        status: {
          default: "active",
          type: "string",
          enum: ["active", "inactive"],
        },
        assign_to_new_customers: {
          default: false,
          type: "boolean",
        },
        type: {
          type: "string",
          const: "authentication",
        },
        conditions: {
          $ref: "AuthenticationConditions",
        },
      },
      required: ["name", "type", "conditions"],
      additionalProperties: false,
    },
    AuthenticationConditions: {
      type: "object",
      properties: {
        mfa_required: {
          type: "boolean",
        },
        max_session_duration: {
          type: "integer",
          minimum: 60,
          maximum: 31536000,
        },
        allowed_email_domains: {
          minItems: 1,
          maxItems: 100,
          type: "array",
          items: {
            type: "string",
            maxLength: 253,
          },
        },
        allowed_ip_ranges: {
          minItems: 1,
          maxItems: 100,
          type: "array",
          items: {
            type: "string",
            maxLength: 64,
          },
        },
      },
      additionalProperties: false,
      minProperties: 1,
    },
    NewAuthorizationPolicy: {
      type: "object",
      properties: {
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
        description: {
          default: "",
          type: "string",
          maxLength: 2000,
        },
        status: {
          default: "active",
          type: "string",
          enum: ["active", "inactive"],
        },
        assign_to_new_customers: {
          default: false,
          type: "boolean",
        },
        type: {
          type: "string",
          const: "authorization",
        },
        conditions: {
          $ref: "AuthorizationConditions",
        },
      },
      required: ["name", "type", "conditions"],
      additionalProperties: false,
    },
    AuthorizationConditions: {
      type: "object",
      properties: {
        policy_set: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
      },
      required: ["policy_set"],
      additionalProperties: false,
    },
    PolicyUpdate: {
      type: "object",
      properties: {
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
        description: {
          type: "string",
          maxLength: 2000,
        },
        assign_to_new_customers: {
          type: "boolean",
        },
        status: {
          type: "string",
          enum: ["active", "inactive"],
        },
        type: {
          type: "string",
          enum: ["authentication", "authorization"],
        },
        conditions: {
          type: "object",
          properties: {},
          additionalProperties: {},
        },
      },
      additionalProperties: false,
      minProperties: 1,
    },
    PolicyPatch: {
      type: "object",
      properties: {
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
        description: {
          type: "string",
          maxLength: 2000,
        },
        assign_to_new_customers: {
          type: "boolean",
        },
        status: {
          type: "string",
          enum: ["active", "inactive"],
        },
        type: {
          type: "string",
          enum: ["authentication", "authorization"],
        },
        conditions: {
          type: "object",
          propertyNames: {
            type: "string",
          },
          additionalProperties: {},
        },
      },
      additionalProperties: false,
      minProperties: 1,
    },
    PolicyAssignment: {
      type: "object",
      properties: {
        policy_ids: {
          minItems: 1,
          maxItems: 100,
          type: "array",
          items: {
            type: "string",
            pattern: "^pol_[0-7][0-9a-hjkmnp-tv-z]{25}$",
          },
        },
      },
      required: ["policy_ids"],
      additionalProperties: false,
    },
    NewWebhook: {
      type: "object",
      properties: {
        url: {
          type: "string",
          maxLength: 2048,
          format: "uri",
        },
        events: {
          type: ["array", "string"],
          anyOf: [
            {
              const: "*",
            },
            {
              type: "array",
              items: {
                type: "string",
                enum: [
                  "user.authenticated",
                  "user.authentication_failed",
                  "user.logged_out",
                  "user.deleted",
                  "session.revoked",
                  "policy.violated",
                  "policy.updated",
                  "policy_set.published",
                  "policy_set.rollout_started",
                  "policy_set.rollout_changed",
                  "policy_set.rollout_promoted",
                  "policy_set.rollout_aborted",
                  "customer.created",
                  "customer.updated",
                  "customer.suspended",
                  "api_key.created",
                  "api_key.revoked",
                  "gateway.lost",
                  "gateway.diverged",
                  "gateway.lagging",
                  "gateway.recovered",
                  "*",
                ],
              },
              minItems: 1,
              maxItems: 22,
            },
          ],
        },
        secret: {
          type: "string",
          minLength: 8,
          maxLength: 255,
        },
        description: {
          default: null,
          anyOf: [
            {
              type: "string",
              maxLength: 500,
            },
            {
              type: "null",
            },
          ],
        },
        customer_id: {
          default: null,
          anyOf: [
            {
              type: "string",
              minLength: 1,
              maxLength: 128,
            },
            {
              type: "null",
            },
          ],
        },
        enabled: {
          default: true,
          type: "boolean",
        },
      },
      required: ["url", "events"],
      additionalProperties: false,
    },
    WebhookUpdate: {
      type: "object",
      properties: {
        url: {
          type: "string",
          maxLength: 2048,
          format: "uri",
        },
        events: {
          type: ["array", "string"],
          anyOf: [
            {
              const: "*",
            },
            {
              type: "array",
              items: {
                type: "string",
                enum: [
                  "user.authenticated",
                  "user.authentication_failed",
                  "user.logged_out",
                  "user.deleted",
                  "session.revoked",
                  "policy.violated",
                  "policy.updated",
                  "policy_set.published",
                  "policy_set.rollout_started",
                  "policy_set.rollout_changed",
                  "policy_set.rollout_promoted",
                  "policy_set.rollout_aborted",
                  "customer.created",
                  "customer.updated",
                  "customer.suspended",
                  "api_key.created",
                  "api_key.revoked",
                  "gateway.lost",
                  "gateway.diverged",
                  "gateway.lagging",
                  "gateway.recovered",
                  "*",
                ],
              },
              minItems: 1,
              maxItems: 22,
            },
          ],
        },
        description: {
          anyOf: [
            {
              type: "string",
              maxLength: 500,
            },
            {
              type: "null",
            },
          ],
        },
        enabled: {
          type: "boolean",
        },
      },
      additionalProperties: false,
      minProperties: 1,
    },
    WebhookSecretRotation: {
      type: "object",
      properties: {
        secret: {
          type: "string",
          minLength: 8,
          maxLength: 255,
        },
        overlap_seconds: {
          default: 86400,
          type: "integer",
          minimum: 0,
          maximum: 604800,
        },
      },
      additionalProperties: false,
    },
    NewApiKey: {
      type: "object",
      properties: {
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
        scope: {
          type: "string",
          enum: ["read_only", "configuration", "authentication", "full_access", "gateway", "caller"],
        },
        customer_id: {
          type: "string",
          minLength: 1,
          maxLength: 128,
        },
        permissions: {
          maxItems: 100,
          type: "array",
          items: {
            type: "string",
            minLength: 1,
            maxLength: 128,
          },
        },
        allowed_addresses: {
          maxItems: 100,
          type: "array",
          items: {
            type: "string",
            maxLength: 64,
          },
        },
        expires_at: {
          type: "string",
          format: "date-time",
        },
      },
      required: ["name", "scope"],
      additionalProperties: false,
    },
    ApiKeyUpdate: {
      type: "object",
      properties: {
        name: {
          type: "string",
          minLength: 1,
          maxLength: 200,
        },
        allowed_addresses: {
          maxItems: 100,
          type: "array",
          items: {
            type: "string",
            maxLength: 64,
          },
        },
        expires_at: {
          anyOf: [
            {
              type: "string",
              format: "date-time",
            },
            {
              type: "null",
            },
          ],
        },
      },
      additionalProperties: false,
      minProperties: 1,
    },
    ApiKeyRoll: {
      type: "object",
      properties: {
        overlap: {
          default: 86400,
          type: "integer",
          minimum: 0,
          maximum: 2592000,
        },
      },
      additionalProperties: false,
    },
  },
  errors: {
    MALFORMED_JSON: {
      status: 400,
      message: "the body is malformed or ambiguous JSON",
    },
    INVALID_PARAMETER: {
      status: 400,
      message: "a parameter of the path, the query or a header is malformed",
    },
    INVALID_STATE: {
      status: 400,
      message: "the state is unknown, used, expired or from another browser",
    },
    MALFORMED_REQUEST: {
      status: 400,
      message: "the request is not valid HTTP",
    },
    REQUEST_TIMEOUT: {
      status: 408,
      message: "timed out while receiving the request",
    },
    HEADERS_TOO_LARGE: {
      status: 431,
      message: "the request's headers and path are too large",
    },
    UNAUTHORIZED: {
      status: 401,
      message: "a valid API key or dashboard session is required",
    },
    API_KEY_EXPIRED: {
      status: 401,
      message: "the API key has expired",
    },
    API_KEY_ROLLED: {
      status: 401,
      message: "the API key was replaced, and its overlap has ended: use the new key",
    },
    API_KEY_REVOKED: {
      status: 401,
      message: "the API key was revoked",
    },
    WRONG_ENVIRONMENT: {
      status: 401,
      message: "the API key belongs to the other environment",
    },
    INVALID_CREDENTIALS: {
      status: 401,
      message: "incorrect e-mail address or password",
    },
    INVALID_LINK: {
      status: 401,
      message: "the link is unknown, used or expired",
    },
    INVALID_CODE: {
      status: 401,
      message: "the code is unknown, used, expired or not for this customer",
    },
    INVALID_REFRESH_TOKEN: {
      status: 401,
      message: "the refresh token is unknown, used, expired or revoked",
    },
    SESSION_ENDED: {
      status: 401,
      message: "the session has ended",
    },
    INSUFFICIENT_SCOPE: {
      status: 403,
      message: "the API key's scope does not permit this",
    },
    INSUFFICIENT_ROLE: {
      status: 403,
      message: "the dashboard user's role does not permit this",
    },
    CUSTOMER_KEY_NOT_ALLOWED: {
      status: 403,
      message: "the API key is limited to one customer",
    },
    ADDRESS_NOT_ALLOWED: {
      status: 403,
      message: "the API key may not be used from this address",
    },
    CSRF_TOKEN_INVALID: {
      status: 403,
      message: "the CSRF token is missing or belongs to another session",
    },
    CUSTOMER_SUSPENDED: {
      status: 403,
      message: "the customer is suspended or archived",
    },
    USER_SUSPENDED: {
      status: 403,
      message: "the user is suspended",
    },
    POLICY_VIOLATED: {
      status: 403,
      message: "a policy of the customer forbids this",
    },
    NOT_FOUND: {
      status: 404,
      message: "no resource at this path",
    },
    INVALID_CUSTOMER: {
      status: 404,
      message: "the customer does not exist",
    },
    POLICY_NOT_FOUND: {
      status: 404,
      message: "the policy does not exist",
    },
    BULK_ASSIGNMENT_NOT_FOUND: {
      status: 404,
      message: "the assignment to many customers does not exist",
    },
    POLICY_SET_NOT_FOUND: {
      status: 404,
      message: "the policy set or its version does not exist",
    },
    ROLLOUT_NOT_FOUND: {
      status: 404,
      message: "the policy set has had no rollout",
    },
    USER_NOT_FOUND: {
      status: 404,
      message: "the user does not exist",
    },
    SESSION_NOT_FOUND: {
      status: 404,
      message: "the session does not exist",
    },
    WEBHOOK_NOT_FOUND: {
      status: 404,
      message: "the webhook does not exist",
    },
    DELIVERY_NOT_FOUND: {
      status: 404,
      message: "the delivery does not exist",
    },
    API_KEY_NOT_FOUND: {
      status: 404,
      message: "the API key does not exist",
    },
    CLIENT_NOT_FOUND: {
      status: 404,
      message: "the machine client does not exist",
    },
    DASHBOARD_USER_NOT_FOUND: {
      status: 404,
      message: "the dashboard user does not exist",
    },
    ERASURE_NOT_FOUND: {
      status: 404,
      message: "there is no erasure with this id",
    },
    PERSON_NOT_FOUND: {
      status: 404,
      message: "the person does not exist in the sandbox",
    },
    IDP_NOT_CONFIGURED: {
      status: 404,
      message: "the customer has no identity provider",
    },
    METHOD_NOT_ALLOWED: {
      status: 405,
      message: "method not allowed for this path",
    },
    NOT_ACCEPTABLE: {
      status: 406,
      message: "the API answers with JSON, which the request does not accept",
    },
    CONFLICT: {
      status: 409,
      message: "the change conflicts with the current state",
    },
    DUPLICATE: {
      status: 409,
      message: "the name is already in use",
    },
    INVALID_TRANSITION: {
      status: 409,
      message: "this status change is not allowed",
    },
    VERSION_IMMUTABLE: {
      status: 409,
      message: "this version was already published with different content",
    },
    IDEMPOTENCY_CONFLICT: {
      status: 409,
      message: "a request with this Idempotency-Key is in progress",
    },
    PRECONDITION_FAILED: {
      status: 412,
      message: "the resource has changed: its ETag does not match `If-Match`",
    },
    CURSOR_EXPIRED: {
      status: 410,
      message: "events after this cursor may be missing; read the feed from the beginning, or from `latest`",
    },
    PAYLOAD_TOO_LARGE: {
      status: 413,
      message: "the request is too large",
    },
    UNSUPPORTED_MEDIA_TYPE: {
      status: 415,
      message: "the body must be uncompressed `application/json` in UTF-8",
    },
    VALIDATION_FAILED: {
      status: 422,
      message: "the body is not valid",
    },
    IDEMPOTENCY_KEY_REUSED: {
      status: 422,
      message: "the Idempotency-Key was used for another request",
    },
    RETURN_URL_NOT_ALLOWED: {
      status: 422,
      message: "the return URL is not registered for the customer",
    },
    IDP_UNREACHABLE: {
      status: 422,
      message: "the identity provider's configuration could not be verified",
    },
    TARGET_NOT_ALLOWED: {
      status: 422,
      message: "the URL points to an address that is not allowed",
    },
    POLICY_SET_INVALID: {
      status: 422,
      message: "the policy set has errors",
    },
    POLICY_SET_NOT_ACTIVE: {
      status: 422,
      message: "the policy set has no active version",
    },
    RATE_LIMIT_EXCEEDED: {
      status: 429,
      message: "too many requests; try again later",
    },
    INTERNAL_ERROR: {
      status: 500,
      message: "internal error; quote the request id when you ask for help",
    },
    IDP_FAILED: {
      status: 502,
      message: "the identity provider returned an invalid response",
    },
    SERVICE_UNAVAILABLE: {
      status: 503,
      message: "the service is unavailable; try again later",
    },
  },
};
