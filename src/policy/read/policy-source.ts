import type { AttributeNode, ConditionNode } from "../condition/index.ts";
import type { GraphqlDocumentsIR, GraphqlSchemaIR } from "../graphql-ir.ts";
import type {
  AttributePath,
  AttributeType,
  CorsIR,
  FieldPathIR,
  GraphqlSettingsIR,
  MaskAction,
  SectionName,
  SegmentIR,
} from "../ir.ts";
import type { ScalarNode, YamlNode } from "../syntax/tree.ts";

/**
 * A policy set as written in its files: each part is well-formed and has its position. The checks find mistakes that
 * involve several parts.
 */
export interface PolicySetSource {
  /** The content of the first file that is not empty. */
  readonly root: YamlNode | undefined;
  readonly head: HeadSource;
  readonly rules: readonly PathRuleSource[];
  readonly responses: readonly ResponseRuleSource[];
  readonly graphql: readonly GraphqlRuleSource[];
  /** The schema, if `graphql.schema` names one that can be read. */
  readonly schema?: GraphqlSchemaIR;
  /** The documents, if `graphql.persisted` names a list that can be read. */
  readonly documents?: GraphqlDocumentsIR;
  /** Argument names by `Type.field`, as far as the schema has them. */
  readonly fieldArguments?: ReadonlyMap<string, readonly string[]>;
  readonly connections: readonly ConnectionSource[];
  /** The messages of every entry, including entries whose connection cannot be read. */
  readonly messages: readonly MessageSource[];
}

/** The head keys that are set; the others have defaults. */
export interface HeadSource {
  readonly name?: string;
  readonly version?: string;
  readonly default?: "deny" | "allow";
  readonly preflight?: "deny" | "allow";
  readonly cors?: CorsIR;
  readonly auditRequired?: boolean;
  readonly attributes?: readonly AttributeRootSource[];
  readonly graphql?: GraphqlHeadSource;
}

export interface AttributeRootSource {
  readonly name: string;
  readonly node: ScalarNode;
  readonly types: Readonly<Record<string, AttributeType>>;
  /** It may have members other than those in `types`. */
  readonly open: boolean;
  readonly lookup?: {
    readonly source: string;
    readonly key: AttributePath;
    /** The key as written in its file. */
    readonly written: { readonly attribute: AttributeNode; readonly node: ScalarNode };
    readonly node: ScalarNode;
  };
}

/** A file that a policy file names, by its name in the set. */
export interface NamedFile {
  readonly node: ScalarNode;
  readonly file: string;
}

export interface GraphqlHeadSource {
  readonly settings: Omit<GraphqlSettingsIR, "schema" | "documents">;
  /** The SDL file. */
  readonly schema?: NamedFile;
  /** The list of documents. */
  readonly persisted?: NamedFile;
  /** Parameters of its paths. */
  readonly parameters: readonly string[];
}

export interface ConditionSource {
  readonly node: ScalarNode;
  readonly text: string;
  readonly ast: ConditionNode;
  /** True if the author's condition cannot be parsed; this one replaces it and is never true. */
  readonly broken: boolean;
}

/** The path of a rule, with its scalar in the file. */
export interface PatternSource {
  readonly node: ScalarNode;
  readonly method: string;
  readonly text: string;
  readonly segments: readonly SegmentIR[];
}

interface RuleSource {
  readonly section: SectionName;
  /** Unique in the set. */
  readonly id: string;
  readonly node: YamlNode;
  readonly name: string | undefined;
  readonly auditRequired: boolean;
}

export interface PathRuleSource extends RuleSource {
  readonly section: "policies" | "web_policies";
  readonly pattern: PatternSource;
  readonly condition: ConditionSource;
}

export interface ResponseFieldSource {
  readonly node: ScalarNode;
  readonly field: FieldPathIR;
  readonly action: MaskAction;
  readonly condition: ConditionSource;
}

export interface ResponseRuleSource extends RuleSource {
  readonly section: "response_filters" | "response_masks";
  readonly pattern: PatternSource;
  /** What happens to successful responses that are not JSON. */
  readonly otherTypes: "refuse" | "pass";
  readonly fields: readonly ResponseFieldSource[];
}

export interface GraphqlRuleSource extends RuleSource {
  readonly section: "graphql_policies";
  readonly operation: "query" | "mutation" | "subscription";
  /** What the rule guards, as written. */
  readonly target: ScalarNode;
  readonly type: string | undefined;
  readonly field: string;
  readonly condition: ConditionSource;
  readonly onDeny: "reject" | "null";
}

export interface ConnectionSource extends RuleSource {
  readonly section: "websocket_policies";
  readonly pattern: Omit<PatternSource, "node" | "method"> & { readonly node: YamlNode };
  readonly condition: ConditionSource;
  readonly messages: readonly MessageSource[];
}

export interface MessageSource extends RuleSource {
  readonly section: "websocket_policies";
  readonly pattern: ConnectionSource["pattern"];
  readonly type: ScalarNode;
  readonly direction: "send" | "receive";
  readonly condition: ConditionSource;
  readonly onDeny: "drop" | "close";
  /** Fields to mask in a message from the server. Empty for messages from the client. */
  readonly fields: readonly ResponseFieldSource[];
}
