"use strict";

// Swagger UI over /openapi.json. Nothing is kept in the browser: a key is gone with the page.
(async () => {
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
      (operation.parameters || []).forEach(sayExample);
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

  // Swagger UI would fill every example in and send it, also where nothing has to be sent.
  function sayExample(parameter) {
    if (parameter.required || parameter.example === undefined) {
      return;
    }
    const text = parameter.description ? `${parameter.description} ` : "";
    parameter.description = `${text}For example \`${parameter.example}\`.`;
    delete parameter.example;
  }
})();
