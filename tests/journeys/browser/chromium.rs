//! A Chromium of its own for each journey, driven through Debian's chromedriver.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use fantoccini::actions::{InputSource, KeyAction, KeyActions, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use fantoccini::elements::Element;
use fantoccini::{Client, ClientBuilder, Locator};
use serde_json::json;
use weir_tests::wait::PATIENCE;
use weir_tests::worker::World;

/// The window: a laptop's.
const WINDOW: (u32, u32) = (1440, 900);
/// Time a drag takes from one point to the next: the page sees it move.
const STRIDE: Duration = Duration::from_millis(40);

/// A browser with one tab. Its processes carry the world's HOME, so they are gone with it.
pub(super) struct Chromium {
    client: Client,
    driver: Child,
    shots: Option<PathBuf>,
}

impl Chromium {
    /// Starts a driver and a browser with an empty profile.
    pub(super) async fn start(world: &World) -> Result<Self> {
        let mut driver = world
            .command("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("chromedriver cannot be started: scripts/setup test installs it")?;
        let port = port_of(&mut driver)?;
        let profile = world.path("profile");
        let capabilities = json!({
            "goog:chromeOptions": {
                "binary": browser()?,
                "args": [
                    "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic",
                    "--no-first-run", "--disable-background-networking", "--disable-component-update",
                    "--disable-sync", "--force-dark-mode", "--no-proxy-server", "--force-device-scale-factor=1",
                    format!("--user-data-dir={}", profile.display()),
                    format!("--window-size={},{}", WINDOW.0, WINDOW.1),
                ],
            },
        });
        let serde_json::Value::Object(capabilities) = capabilities else { bail!("capabilities are an object") };
        let client = ClientBuilder::new(hyper_util::client::legacy::connect::HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .context("Chromium does not start")?;
        let shots = std::env::var_os("WEIR_SCREENSHOTS").map(PathBuf::from);
        Ok(Self { client, driver, shots })
    }

    /// Opens an address.
    pub(super) async fn open(&self, url: &str) -> Result<()> {
        Ok(self.client.goto(url).await?)
    }

    /// The address in the bar.
    pub(super) async fn address(&self) -> Result<String> {
        Ok(self.client.current_url().await?.to_string())
    }

    /// The first element of this selector, once there is one.
    pub(super) async fn see(&self, css: &str) -> Result<Element> {
        self.wait_for(Locator::Css(css)).await
    }

    /// A button, link or menu item by what a person calls it: its text or its label.
    pub(super) async fn control(&self, name: &str) -> Result<Element> {
        let path = format!(
            "//*[self::button or self::a or @role='button' or @role='menuitem' or @role='option' or @role='treeitem'\
             or @role='tab'][not(@disabled)][normalize-space(.)='{name}' or @aria-label='{name}' or @title='{name}']"
        );
        self.wait_for(Locator::XPath(&path)).await
    }

    /// Presses a control.
    pub(super) async fn press(&self, name: &str) -> Result<()> {
        self.control(name).await?.click().await.with_context(|| format!("`{name}` cannot be pressed"))
    }

    /// The first element of this `XPath`, once there is one.
    pub(super) async fn see_path(&self, path: &str) -> Result<Element> {
        self.wait_for(Locator::XPath(path)).await
    }

    /// All elements of this selector, once there are just so many.
    pub(super) async fn see_count(&self, css: &str, count: usize) -> Result<Vec<Element>> {
        let deadline = std::time::Instant::now() + PATIENCE;
        loop {
            let found = self.client.find_all(Locator::Css(css)).await?;
            if found.len() == count {
                return Ok(found);
            }
            if std::time::Instant::now() > deadline {
                self.shot("failed").await?;
                bail!("{} of `{css}` are on the page, not {count}", found.len());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Whether this text is anywhere on the page, once it is.
    pub(super) async fn read(&self, text: &str) -> Result<()> {
        let path = format!("//body[contains(normalize-space(.),'{text}')]");
        self.wait_for(Locator::XPath(&path)).await.map(drop)
    }

    async fn wait_for(&self, what: Locator<'_>) -> Result<Element> {
        let found = self.client.wait().at_most(PATIENCE).every(Duration::from_millis(20)).for_element(what).await;
        match found {
            Ok(element) => Ok(element),
            Err(error) => {
                self.shot("failed").await?;
                let shown = self.client.execute("return document.body.innerText", Vec::new()).await?;
                bail!("{what:?} is not on the page ({error}). It shows:\n{}", shown.as_str().unwrap_or(""))
            }
        }
    }

    /// The middle of an element in the window.
    pub(super) async fn middle(element: &Element) -> Result<(f64, f64)> {
        let (x, y, width, height) = element.rectangle().await?;
        Ok((x + width / 2.0, y + height / 2.0))
    }

    /// Presses at one point, moves in a few strides to another, and lets go.
    pub(super) async fn drag(&self, from: (f64, f64), to: (f64, f64)) -> Result<()> {
        let at = |share: f64| PointerAction::MoveTo {
            duration: Some(STRIDE),
            x: from.0 + (to.0 - from.0) * share,
            y: from.1 + (to.1 - from.1) * share,
        };
        let mut pointer =
            MouseActions::new("mouse".to_owned()).then(at(0.0)).then(PointerAction::Down { button: MOUSE_BUTTON_LEFT });
        for stride in [0.05, 0.2, 0.4, 0.6, 0.8, 0.95, 1.0, 1.0] {
            pointer = pointer.then(at(stride));
        }
        self.client.perform_actions(pointer.then(PointerAction::Up { button: MOUSE_BUTTON_LEFT })).await?;
        Ok(())
    }

    /// Moves the pointer to a point.
    pub(super) async fn hover(&self, to: (f64, f64)) -> Result<()> {
        let pointer = MouseActions::new("mouse".to_owned()).then(PointerAction::MoveTo {
            duration: Some(STRIDE),
            x: to.0,
            y: to.1,
        });
        Ok(self.client.perform_actions(pointer).await?)
    }

    /// Presses keys together, the last one while the others are held.
    pub(super) async fn keys(&self, keys: &[char]) -> Result<()> {
        let down = keys.iter().map(|key| KeyAction::Down { value: *key });
        let up = keys.iter().rev().map(|key| KeyAction::Up { value: *key });
        let actions = down.chain(up).fold(KeyActions::new("keyboard".to_owned()), KeyActions::then);
        Ok(self.client.perform_actions(actions).await?)
    }

    /// Types into whatever has the focus.
    pub(super) async fn type_text(&self, text: &str) -> Result<()> {
        for key in text.chars() {
            self.keys(&[key]).await?;
        }
        Ok(())
    }

    /// What a script of the page gives.
    pub(super) async fn script(&self, script: &str, arguments: Vec<serde_json::Value>) -> Result<serde_json::Value> {
        Ok(self.client.execute(script, arguments).await?)
    }

    /// Waits until a script of the page gives true.
    pub(super) async fn until(&self, script: &str) -> Result<()> {
        let deadline = std::time::Instant::now() + PATIENCE;
        while self.script(script, Vec::new()).await? != json!(true) {
            if std::time::Instant::now() > deadline {
                self.shot("failed").await?;
                bail!("never true on the page: {script}");
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Kills the tab with all that it has not written anywhere, and goes on in a new one.
    pub(super) async fn kill_tab(&self) -> Result<()> {
        let fresh = self.client.new_window(true).await?;
        // The driver says that the tab crashed, which is what was wanted.
        let _ = self.client.goto("chrome://crash").await;
        Ok(self.client.switch_to_window(fresh.handle).await?)
    }

    /// Keeps a picture of the window in `$WEIR_SCREENSHOTS`, when that is set.
    pub(super) async fn shot(&self, name: &str) -> Result<()> {
        if let Some(folder) = &self.shots {
            std::fs::create_dir_all(folder)?;
            std::fs::write(folder.join(format!("{name}.png")), self.client.screenshot().await?)?;
        }
        Ok(())
    }

    /// Closes the tab; the driver ends with the value.
    pub(super) async fn close(self) -> Result<()> {
        Ok(self.client.clone().close().await?)
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // Best effort: the world ends what is left.
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The port that the driver chose, from what it prints.
fn port_of(driver: &mut Child) -> Result<u16> {
    let output = driver.stdout.take().context("no output")?;
    let mut lines = BufReader::new(output);
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            bail!("chromedriver ended without a port");
        }
        if let Some((_, port)) = line.trim().trim_end_matches('.').rsplit_once("started successfully on port ") {
            return Ok(port.parse()?);
        }
    }
}

/// The browser's program, under one of the names that distributions give it.
fn browser() -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    std::env::split_paths(&path)
        .flat_map(|folder| names.map(|name| folder.join(name)))
        .find(|program| program.is_file())
        .context("no Chromium on the PATH: scripts/setup test installs it")
}
