// The data of the page: what `--report F.json` writes, and the texts that go with it.

const report = JSON.parse(document.getElementById("vyre-report").textContent);
const listings = JSON.parse(document.getElementById("vyre-listings").textContent);
