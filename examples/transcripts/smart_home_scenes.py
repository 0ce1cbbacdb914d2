"""Conversations with the smart home."""

from __future__ import annotations

import json

import smart_home
from transcripts.play import Call, Scene, Transcript

LIGHT, LAMP = "uuid-abc123", "uuid-bed001"
ON = {"component": "main", "capability": "switch", "command": "on"}
WARM = {"capability": "colorTemperature", "command": "setColorTemperature"}
SCENES = (
    Scene("打开客厅的灯",
        Call("search_devices", {"query": "客厅 灯", "limit": None}, "null_to_absent", gives='"id": "abc123"'),
        Call("execute_commands", lambda found: {"deviceId": json.loads(found[0])[0]["fullId"], "commands": json.dumps([ON])},
             "rename_case json_text_to_array", gives="ACCEPTED"),
        Call("get_status", {"deviceId": LIGHT, "toolCallId": "call_3"}, "rename_case drop_injected", gives='"switch": "on"'),
        answer="已成功打开客厅吸顶灯", english="Turn on the living room light."),
    Scene("让灯光柔和一些",
        Call("interpret_command",
             {"user_input": "柔和一些", "device_capabilities": "['switch', 'switchLevel']", "current_state": '{"level": 80}'},
             "json5_text_to_array json_text_to_object",
             gives='"command": "setLevel", "arguments": [50]'),
        Call("execute_commands", lambda found: {"device_id": LIGHT, "commands": json.loads(found[0])}, "object_to_array", gives="ACCEPTED"),
        answer="客厅吸顶灯的亮度已调到 50%。", english="Make the light softer."),
    Scene("Make the bedroom lamp warmer, and turn the studio lamp on",
        [
            Call("search_devices", {"arguments": {"query": "bedroom lamp"}}, "unwrap_arguments", gives="卧室台灯"),
            Call("search_devices", '{"query": "studio lamp"}', "json_text_to_object", gives="studio"),
        ],
        Call("execute_commands", {"device_id": LAMP, "commands": [WARM | {"capability": "color", "arguments": [3200]}]},
             "UNSUPPORTED_CAPABILITY"),
        [
            Call("execute_commands", {"device_id": LAMP, "commands": [WARM | {"args": [3200]}]}, "INVALID_COMMANDS_TYPE"),
            Call("execute_commands", {"device_id": "uuid-std001", "commands": [json.dumps(ON)]}, "json_text_to_object"),
        ],
        Call("execute_commands", {"device_id": LAMP, "commands": [WARM | {"arguments": "[3200]"}]},
             "json_text_to_array", gives="ACCEPTED"),
        answer="The bedroom lamp is at 3200 K now, and the studio lamp is on."),
    Scene("把卧室的灯关掉",
        Call("search_devices", {"query": "卧室灯", "limit": "两"}, "INVALID_LIMIT_TYPE"),
        Call("search_devices", {"query": "卧室灯", "limit": 2}, gives=LAMP),
        Call("interpret_command",
             {"userInput": "关掉", "deviceCapabilities": {"item": ["switch", "switchLevel"]}, "currentState": None},
             "rename_case rename_case rename_case item_wrapper_to_array",
             gives='"command": "off"'),
        Call("execute_commands", lambda found: {"device_id": LAMP, "commands": [json.loads(found[-1])]}, gives="ACCEPTED"),
        answer="卧室台灯已关闭。", english="Turn off the bedroom light."),
)  # fmt: skip

TRANSCRIPT = Transcript("Smart home", smart_home.__doc__ or "", smart_home.build, SCENES)
