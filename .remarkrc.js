/** What `make lint` checks in Markdown; cspell.json has the spelling. */
import remarkGfm from "remark-gfm";
import remarkRetext from "remark-retext";
import remarkValidateLinks from "remark-validate-links";
import retextEnglish from "retext-english";
import retextRepeatedWords from "retext-repeated-words";
import { unified } from "unified";
import { forbiddenPhrases } from "./docs/.lint/phrases.ts";
import { references } from "./docs/.lint/references.ts";

export default {
  plugins: [
    remarkGfm,
    // files, and headings of this and other pages
    [remarkValidateLinks, { repository: false }],
    references,
    [remarkRetext, unified().use(retextEnglish).use(retextRepeatedWords)],
    forbiddenPhrases,
  ],
};
