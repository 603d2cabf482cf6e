import { useEffect } from "preact/hooks";

/** Long enough for a new page to give the focus to its heading. */
const WAIT_MS = 100;
/** The parts of a page that have a name. */
const PARTS = "dialog, [role=region], section[aria-label], nav[aria-label]";

interface Place {
  readonly element: Element;
  /** The parts that it is in, the innermost first. */
  readonly parts: readonly Element[];
}

/**
 * Keeps the focus where somebody was, if the element that has it leaves the page: the row of what was removed, or the button
 * that is not offered any more once it was pressed. Browsers forget the focus then, and screen readers start again at the top. It
 * goes to the nearest part of the page that is left.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    let onPage: Place | undefined;
    let inDialog: Place | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const note = ({ target }: FocusEvent) => {
      if (!(target instanceof Element)) return;
      if (target.closest("dialog") === null) [onPage, inDialog] = [placeOf(target), undefined];
      else inDialog = placeOf(target);
    };
    const forget = ({ target, relatedTarget }: FocusEvent) => {
      if (relatedTarget !== null || !(target instanceof Element)) return;
      // some browsers say so of what they are about to remove, too
      queueMicrotask(() => {
        if (!target.isConnected || !document.hasFocus() || !canHaveFocus(target)) return;
        if (onPage?.element === target) onPage = undefined;
        if (inDialog?.element === target) inDialog = undefined;
      });
    };
    const check = () => {
      timer = undefined;
      const { activeElement } = document;
      if (activeElement !== null && activeElement !== document.body) return;
      const place = document.querySelector("dialog[open]") === null ? onPage : inDialog;
      if (place === undefined || place.element.isConnected) return;
      for (const part of [...place.parts.filter((one) => one.isConnected), document.querySelector("h1")]) {
        if (!(part instanceof HTMLElement)) continue;
        if (!part.hasAttribute("tabindex")) part.tabIndex = -1;
        part.focus();
        if (document.activeElement === part) return;
      }
    };
    const observer = new MutationObserver(() => {
      timer ??= setTimeout(check, WAIT_MS);
    });
    observer.observe(document.body, { childList: true, subtree: true });
    document.addEventListener("focusin", note);
    document.addEventListener("focusout", forget);
    return () => {
      observer.disconnect();
      clearTimeout(timer);
      document.removeEventListener("focusin", note);
      document.removeEventListener("focusout", forget);
    };
  }, []);
}

/** What is disabled or hidden loses the focus without anybody leaving it, often just before it is removed. */
function canHaveFocus(element: Element): boolean {
  return !element.matches(":disabled") && element.checkVisibility();
}

function placeOf(element: Element): Place {
  const parts: Element[] = [];
  for (let part = element.parentElement?.closest(PARTS); part; part = part.parentElement?.closest(PARTS))
    parts.push(part);
  return { element, parts };
}
