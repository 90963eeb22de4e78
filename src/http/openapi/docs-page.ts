/** Begins the reference page in the browser: the description names BASE_URL, and the page may have been opened by another. */
export const START = `'use strict'
const base = new URL('.', location.href.split(/[?#]/)[0].replace(/\\/+$/, '')).href
const dark = matchMedia('(prefers-color-scheme: dark)')
const look = () => document.documentElement.classList.toggle('dark-mode', dark.matches)
look()
dark.addEventListener('change', look)
fetch(base + 'openapi.json')
  .then((answer) => answer.json())
  .then((spec) =>
    SwaggerUIBundle({
      spec: { ...spec, servers: [{ url: base.replace(/\\/$/, '') }] },
      dom_id: '#reference',
      deepLinking: true,
      docExpansion: 'list',
      defaultModelsExpandDepth: 0,
      displayRequestDuration: true,
      filter: true,
      syntaxHighlight: { activated: true },
      tryItOutEnabled: true,
      validatorUrl: null,
    }),
  )
  .catch((error) => {
    document.getElementById('reference').textContent = 'The description can not be read: ' + error.message
  })
`

/** Around it, before it is drawn too; Swagger UI's own leaves a telephone a third of its width for text. */
export const STYLE = [
  ':root{color-scheme:light dark}',
  'body{margin:0;font-family:system-ui,sans-serif}',
  'main{max-width:90rem;margin:0 auto;padding:0 1rem}',
  '@media (prefers-color-scheme:dark){:root{background:#1c2022;color:#e4e6e6}}',
  '@media (max-width:40rem){',
  'main{padding:0}',
  '.swagger-ui .wrapper{padding:0 .75rem}',
  '.swagger-ui .opblock .opblock-summary{flex-wrap:wrap}',
  '.swagger-ui .opblock .opblock-summary-path{max-width:100%}',
  '.swagger-ui .opblock .opblock-summary-description{padding:.25rem 0 0}',
  '.swagger-ui .parameters-col_name{width:auto}',
  '.swagger-ui table.parameters tr,.swagger-ui table.parameters td{display:block}',
  '.swagger-ui table.parameters thead{display:none}',
  '}',
].join('')
