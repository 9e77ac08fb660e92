//! A real Chromium, driven through Debian's chromedriver.
