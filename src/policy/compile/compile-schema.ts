import {
  buildASTSchema,
  getNamedType,
  GraphQLError,
  GraphQLSchema,
  isAbstractType,
  isInterfaceType,
  isNonNullType,
  isObjectType,
  isUnionType,
  KnownTypeNamesRule,
  LoneSchemaDefinitionRule,
  parse,
  PossibleTypeExtensionsRule,
  UniqueArgumentDefinitionNamesRule,
  UniqueEnumValueNamesRule,
  UniqueFieldDefinitionNamesRule,
  UniqueInputFieldNamesRule,
  UniqueOperationTypesRule,
  UniqueTypeNamesRule,
  validate,
  validateSchema,
  type ASTNode,
  type GraphQLField,
  type GraphQLNamedType,
  type ValidationRule,
} from "graphql";
import type { Reporter, SourceRange } from "../diagnostics/reporter.ts";
import type { GraphqlFieldIR, GraphqlSchemaIR, GraphqlTypeIR } from "../graphql-ir.ts";
import type { SourceText } from "../diagnostics/source-text.ts";

/**
 * The validation rules for an SDL file (GraphQL, section 3). Directives have no effect here, so unknown ones are
 * accepted.
 */
const SDL_RULES = [
  LoneSchemaDefinitionRule,
  UniqueOperationTypesRule,
  UniqueTypeNamesRule,
  UniqueEnumValueNamesRule,
  UniqueFieldDefinitionNamesRule,
  UniqueArgumentDefinitionNamesRule,
  KnownTypeNamesRule,
  PossibleTypeExtensionsRule,
  UniqueInputFieldNamesRule,
] as unknown as readonly ValidationRule[];

/** The same limit as for a policy file. */
const MAX_LENGTH = 5 * 1024 * 1024;

/** A schema, and the facts that only the checks need. */
export interface CompiledSchema {
  readonly schema: GraphqlSchemaIR;
  /** Argument names by `Type.field`, for fields of object types. */
  readonly fieldArguments: ReadonlyMap<string, readonly string[]>;
}

/** @returns the parts of a schema that a policy set needs; `undefined` if the schema has errors, which are reported */
export function compileSchema(source: SourceText, report: Reporter): CompiledSchema | undefined {
  const { schema, errors } = readSchema(source.text);
  for (const error of errors) {
    const message = `not a valid schema: ${wordingOf(error)}`;
    report.error({ source, ...placeOf(error) }, "invalid-schema", message);
  }
  return schema && { schema: schemaOf(schema), fieldArguments: argumentsOf(schema) };
}

/** Interface fields are left out: an implementing type may take more arguments than its interface declares. */
function argumentsOf(schema: GraphQLSchema): ReadonlyMap<string, readonly string[]> {
  return new Map(
    typesOf(schema)
      .filter(isObjectType)
      .flatMap((type) =>
        fieldsOf(type).map((field) => [`${type.name}.${field.name}`, field.args.map(({ name }) => name)]),
      ),
  );
}

interface SchemaRead {
  /** Absent if there are errors. */
  readonly schema?: GraphQLSchema;
  readonly errors: readonly GraphQLError[];
}

function readSchema(text: string): SchemaRead {
  if (text.length > MAX_LENGTH) return { errors: [new GraphQLError("It is longer than 5 MB.")] };
  try {
    const document = parse(text);
    const empty = new GraphQLSchema({ assumeValid: true, directives: [] });
    const broken = validate(empty, document, SDL_RULES);
    if (broken.length > 0) return { errors: broken };
    const schema = buildASTSchema(document, { assumeValidSDL: true });
    const errors = [...validateSchema(schema), ...sharedRoots(schema), ...inexactDefaults(schema)];
    return errors.length > 0 ? { errors } : { schema, errors };
  } catch (error) {
    // any other error is a stack overflow from deeply nested brackets
    return { errors: [error instanceof GraphQLError ? error : new GraphQLError("It cannot be read.")] };
  }
}

/** GraphQL, section 3.3.1: the root types must be different. */
function sharedRoots(schema: GraphQLSchema): readonly GraphQLError[] {
  const roots = [schema.getQueryType(), schema.getMutationType(), schema.getSubscriptionType()];
  return roots
    .filter((type, index) => roots.indexOf(type) < index)
    .flatMap((type) =>
      type ? new GraphQLError(`"${type.name}" is the root type of two operations.`, nodeOf(type)) : [],
    );
}

function nodeOf({ astNode }: { readonly astNode?: ASTNode | null | undefined }): {
  readonly nodes?: ASTNode;
} {
  return astNode ? { nodes: astNode } : {};
}

/** For an omitted argument, conditions see its default, which must equal the value that the server uses. */
function inexactDefaults(schema: GraphQLSchema): readonly GraphQLError[] {
  const args = typesOf(schema).flatMap((type) => fieldsOf(type).flatMap((field) => field.args));
  return args
    .filter(({ defaultValue }) => hasInexact(defaultValue))
    .map((arg) => new GraphQLError(`The default of "${arg.name}" is not an exact number.`, nodeOf(arg)));
}

function hasInexact(value: unknown): boolean {
  if (typeof value === "number") {
    return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
  }
  return typeof value === "object" && value !== null && Object.values(value).some(hasInexact);
}

function schemaOf(schema: GraphQLSchema): GraphqlSchemaIR {
  const query = schema.getQueryType();
  const mutation = schema.getMutationType();
  const subscription = schema.getSubscriptionType();
  return {
    roots: {
      ...(query && { query: query.name }),
      ...(mutation && { mutation: mutation.name }),
      ...(subscription && { subscription: subscription.name }),
    },
    types: Object.fromEntries(typesOf(schema).map((type) => [type.name, typeIR(type, schema)])),
  };
}

/** Object, interface and union types, except introspection types. */
function typesOf(schema: GraphQLSchema): readonly GraphQLNamedType[] {
  return Object.values(schema.getTypeMap()).filter(
    (type) =>
      (isObjectType(type) || isInterfaceType(type) || isUnionType(type)) && !type.name.startsWith("__"),
  );
}

function fieldsOf(type: GraphQLNamedType): readonly GraphQLField<unknown, unknown>[] {
  return isObjectType(type) || isInterfaceType(type) ? Object.values(type.getFields()) : [];
}

function typeIR(type: GraphQLNamedType, schema: GraphQLSchema): GraphqlTypeIR {
  const interfaces = isObjectType(type) || isInterfaceType(type) ? namesOf(type.getInterfaces()) : [];
  return {
    fields: Object.fromEntries(fieldsOf(type).map((field) => [field.name, fieldIR(field)])),
    ...(isAbstractType(type) && { possible: namesOf(schema.getPossibleTypes(type)) }),
    ...(interfaces.length > 0 && { interfaces }),
  };
}

function namesOf(types: readonly GraphQLNamedType[]): readonly string[] {
  return types.map(({ name }) => name).sort();
}

function fieldIR({ type, args }: GraphQLField<unknown, unknown>): GraphqlFieldIR {
  const defaults = args.flatMap(({ name, defaultValue }) =>
    defaultValue === undefined ? [] : [[name, JSON.parse(JSON.stringify(defaultValue))] as const],
  );
  return {
    type: getNamedType(type).name,
    ...(isNonNullType(type) && { nonNull: true }),
    ...(defaults.length > 0 && { defaults: Object.fromEntries(defaults) }),
  };
}

function placeOf({ nodes, positions }: GraphQLError): Omit<SourceRange, "source"> {
  const [start = 0] = positions ?? [];
  return { start, end: nodes?.[0]?.loc?.end ?? start + 1 };
}

/** Rewords a message of graphql-js in the style of our own findings. */
function wordingOf({ message }: GraphQLError): string {
  const plain = message.replace(/^Syntax Error: /, "").replaceAll('"', "`");
  return (plain.charAt(0).toLowerCase() + plain.slice(1)).replace(/\.$/, "");
}
