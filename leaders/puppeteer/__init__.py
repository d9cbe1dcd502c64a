"""Arms of Dynamixel servos as leaders."""

from paprle.contracts.plugins import PluginSpec

PLUGIN = PluginSpec(
    summary="Arms of Dynamixel servos, one in each hand, that render torque.",
    config="paprle.leaders.puppeteer.config:PuppeteerConfig",
    factory="paprle.leaders.puppeteer.leader:Puppeteer",
    verified="emulator",
    servos="paprle.leaders.puppeteer.servo_search:PuppeteerServos",
    install="pip install 'paprle[dynamixel]'",
)
