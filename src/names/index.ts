/** Finds spellings that could be read as a name. Pure; imports nothing from other rooms. */
export { foldHeaderName, isLetterOrDigit } from "./fold-header-name.ts";
export { headerNames, similarHeader, type HeaderNames } from "./header-names.ts";
export { LookedAt, memberNames, similarMember, type MemberNames } from "./member-names.ts";
export { parameterNames, similarParameter, type ParameterNames } from "./parameter-names.ts";
