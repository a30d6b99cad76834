"use strict";

// Swagger UI over /openapi.json. Nothing is kept in the browser: a key is gone with the page.
(async () => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const followScheme = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", followScheme);
  followScheme();

  const place = document.getElementById("reference");
  const answer = await fetch("openapi.json");
  if (!answer.ok) {
    place.textContent = `The reference could not be loaded: ${answer.status}.`;
    return;
  }
  const description = await answer.json();
  // The host that served this page, whatever name the service has elsewhere: the policy allows
  // no other.
  const here = new URL(".", location.href).href.replace(/\/$/, "");
  description.servers = [{ url: here, description: "This service." }];
  for (const path of Object.values(description.paths)) {
    for (const operation of Object.values(path)) {
      (operation.parameters || []).forEach(leaveOut);
    }
  }
  SwaggerUIBundle({
    spec: description,
    domNode: place,
    deepLinking: true,
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    docExpansion: "list",
    filter: true,
    persistAuthorization: false,
    presets: [SwaggerUIBundle.presets.apis],
    layout: "BaseLayout",
    validatorUrl: null,
  });

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
