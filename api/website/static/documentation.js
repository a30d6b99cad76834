"use strict";

// Swagger UI over /openapi.json. Nothing is kept in the browser: a key is gone with the page.
(async () => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", followScheme);
  followScheme();

  const navigation = document.querySelector(".operations");
  const wide = matchMedia("(min-width: 64rem)");
  const fold = () => { navigation.open = wide.matches; };
  wide.addEventListener("change", fold);
  fold();

  const place = document.getElementById("reference");
  // This script comes first, so that the description loads beside Swagger UI.
  const started = new Promise((resolve) => addEventListener("DOMContentLoaded", resolve));
  const answer = await fetch("openapi.json");
  if (!answer.ok) {
    place.firstElementChild.textContent = `The reference could not be loaded: ${answer.status}.`;
    return;
  }
  const description = await answer.json();
  await started;
  // The host that served this page, whatever name the service has elsewhere: the policy allows
  // no other.
  const here = new URL(".", location.href).href.replace(/\/$/, "");
  description.servers = [{ url: here, description: "This service." }];
  // Only what the API is stands above the operations; the rest of the guide is folded.
  const [introduction, ...chapters] = description.info.description.split(/^(?=## )/m);
  description.info.description = introduction;
  Object.values(description.components.parameters).forEach(leaveOut);
  for (const path of Object.values(description.paths)) {
    for (const operation of Object.values(path)) {
      (operation.parameters || []).filter((parameter) => !parameter.$ref).forEach(leaveOut);
    }
  }
  new MutationObserver(complete).observe(place, { childList: true, subtree: true });
  const system = SwaggerUIBundle({
    spec: description,
    domNode: place,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    // Drawing all operations would take seconds; see openFirst.
    docExpansion: "none",
    filter: true,
    persistAuthorization: false,
    plugins: [accessible],
    presets: [SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
    // Of its themes, one whose numbers have enough contrast.
    syntaxHighlight: { theme: "obsidian" },
    validatorUrl: null,
  });
  navigation.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (link) {
      event.preventDefault();
      open(decodeURIComponent(link.hash));
      fold();
    }
  });

  // Shows an operation by its address, such as "#/Webhooks/webhooks.create".
  function open(address) {
    const [tag, id] = address.slice(2).split("/");
    system.layoutActions.show(["operations-tag", tag], true);
    system.layoutActions.show(["operations", tag, id], true);
    // Once they are drawn. Swagger UI escapes what is special in a selector.
    setTimeout(() => {
      const shown = `operations-${tag.replaceAll(" ", "_")}-${id}`;
      const operation = [...place.querySelectorAll(".opblock")]
        .find((each) => each.id.replaceAll("\\", "") === shown);
      if (operation) {
        operation.scrollIntoView();
        operation.querySelector(".opblock-summary-control").focus({ preventScroll: true });
      }
    });
  }

  // What Swagger UI lacks for keyboards and screen readers; tests/flows/test_accessibility.py.
  function accessible({ React }) {
    const element = React.createElement;
    const inside = (role, label) => (Original) => (props) =>
      element("div", { role, "aria-label": label }, element(Original, props));
    const withGuide = (Original, { getComponent }) => (props) =>
      element("div", { role: "region", "aria-label": "Guide" },
        element(Original, props),
        element("details", { className: "guide" },
          element("summary", null,
            element("h2", null, "Guide: first steps, errors and more")),
          element("div", { className: "info" },
            element(getComponent("Markdown", true), { source: chapters.join("") }))));
    // Of the tags, the first one is open.
    const openFirst = (Original) => (props) => {
      const docExpansion = props.tag === description.tags[0].name ? "list" : "none";
      return element(Original, {
        ...props, getConfigs: () => ({ ...props.getConfigs(), docExpansion }),
      });
    };
    // Resolving references takes Swagger UI two seconds, in which nothing is painted: let it paint
    // the operations first.
    const afterPainting = (resolve) => (path) => {
      requestAnimationFrame(() => setTimeout(() => resolve(path)));
    };
    return {
      fn: { opsFilter: search },
      statePlugins: { spec: { wrapActions: { requestResolvedSubtree: afterPainting } } },
      wrapComponents: {
        InfoContainer: withGuide,
        OperationTag: openFirst,
        AuthorizeBtnContainer: inside("region", "Authorization"),
        FilterContainer: inside("search", "Operations"),
        // The path of an operation is inside the button that opens it, which may not have a link.
        DeepLink: (Original) => (props) =>
          Array.isArray(props.text) ? element("span", null, props.text) : element(Original, props),
      },
    };
  }

  // Swagger UI compares only the names of tags. An operation is found by all the words that were
  // typed, in whatever it shows.
  function search(tags, typed) {
    const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
    return tags
      .map((tag, name) => tag.update("operations", (operations) => operations.filter((each) => {
        const operation = each.get("operation");
        const shown = [
          name, each.get("method"), each.get("path"),
          operation.get("summary"), operation.get("description"), operation.get("operationId"),
        ].join(" ").toLowerCase();
        return words.every((word) => shown.includes(word));
      })))
      .filter((tag) => tag.get("operations").size > 0);
  }

  // Attributes that its components do not set. React leaves them alone.
  function complete() {
    const set = (selector, attribute, valueFor) => {
      for (const found of place.querySelectorAll(`${selector}:not([${attribute}])`)) {
        found.setAttribute(attribute, valueFor(found));
      }
    };
    // "Schemas" is a heading of the fourth level that follows one of the second.
    set("section.models > h4", "aria-level", () => "3");
    // Long examples scroll.
    set("pre.microlight", "tabindex", () => "0");
    for (const field of place.querySelectorAll(".operation-filter-input")) {
      if (field.value.trim().length > 1) {
        // What was found is shown.
        place.querySelectorAll(".opblock-tag[data-is-open=false]").forEach((tag) => tag.click());
      }
      field.setAttribute("aria-label", "Search operations");
      field.setAttribute("placeholder", "Search: path, summary or description");
    }
    set("select", "aria-label", (select) => {
      const parameter = select.closest("[data-param-name]");
      return parameter ? parameter.dataset.paramName : "Example";
    });
    set(".body-param__text", "aria-label", () => "Request body");
    set(".close-modal", "aria-label", () => "Close");
    // Their labels are not the words that they show, which people say to a voice control.
    for (const button of place.querySelectorAll(".auth-btn-wrapper [aria-label]")) {
      button.removeAttribute("aria-label");
    }
    set(".responses-table[role=region]", "aria-label", (table) => {
      const summary = table.closest(".opblock").querySelector(".opblock-summary-control");
      return `Responses: ${summary.textContent}`;
    });
  }

  // Swagger UI would fill in and send every example and default, also of what may be left out.
  function leaveOut(parameter) {
    if (parameter.required) {
      return;
    }
    const said = [parameter.description];
    if (parameter.example !== undefined) {
      said.push(`For example \`${parameter.example}\`.`);
      delete parameter.example;
    }
    if (parameter.schema && parameter.schema.default !== undefined) {
      said.push(`Otherwise \`${parameter.schema.default}\`.`);
      delete parameter.schema.default;
    }
    parameter.description = said.filter(Boolean).join(" ");
  }
})();
